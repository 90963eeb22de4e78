import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'

const test = suite('tests')

/** What a test must not count on, and what it does instead. */
const FORBIDDEN: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\bMath\.random\b/, 'draw from choicesFor (test/seeded.ts)'],
  [/\brandomInt\(/, 'draw from choicesFor (test/seeded.ts)'],
  [/as fc from 'fast-check'/, 'import test/fast-check.ts, which has the seed'],
  [
    /[^>] = performance\.now\(\)$|performance\.now\(\) [-<>]|(?<!=)[-<>]=? performance\.now\(\)|\bhrtime\b/,
    'hold an order of events, or a clock of the test (test/fake-time.ts)',
  ],
  [
    /\bDate\.now\(\).* [<>]=? | [<>]=? .*\bDate\.now\(\)|assert.*\bDate\.now\(\)/,
    'give the service a clock of the test',
  ],
  [
    /\bpause\(|\bsleep\(|setTimeout.*timers\/promises/,
    'wait for the event (test/until.ts) or let a clock of the test pass',
  ],
  [/=> (?:void )?(?:done\()?setTimeout\(|await setTimeout\(/, 'wait for the event (test/until.ts)'],
]

/** What keeps time itself: the waiting and the pace of others, the runner, the server that tests play, clients at work. */
const EXCEPTIONS = ['until.ts', 'pace.ts', 'runner/', 'eventstoredb/peer/', 'faults/workload/']

const folder = new URL('../', import.meta.url)
const files = readdirSync(fileURLToPath(folder), { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.ts') && !name.includes('node_modules') && name !== 'architecture/luck.test.ts',
)

test('count on no luck and on no speed of the machine', () => {
  const found = files
    .filter((name) => !EXCEPTIONS.some((exception) => name.startsWith(exception)))
    .flatMap((name) =>
      readFileSync(new URL(name, folder), 'utf8')
        .split('\n')
        .flatMap((line, index) => {
          const [, instead] = FORBIDDEN.find(([pattern]) => pattern.test(line)) ?? []
          return instead === undefined ? [] : [`test/${name}:${index + 1}: ${line.trim()} — ${instead}`]
        }),
    )
  assert.equal(found, [])
})

test('have few exceptions, each of which is there', () => {
  assert.ok(EXCEPTIONS.length <= 5)
  assert.ok(EXCEPTIONS.every((exception) => files.some((name) => name.startsWith(exception))))
})

test.run()
