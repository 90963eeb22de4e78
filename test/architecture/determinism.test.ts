import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'

const test = suite('the tests')

/** Code that makes a test depend on chance or speed, and what to use instead. */
const FORBIDDEN: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\bMath\.random\b/, 'draw from randomFor (test/seeded.ts)'],
  [/\brandomInt\(/, 'draw from randomFor (test/seeded.ts)'],
  [/as fc from 'fast-check'/, 'import test/fast-check.ts, which has the seed'],
  [
    /[^>] = performance\.now\(\)$|performance\.now\(\) [-<>]|(?<!=)[-<>]=? performance\.now\(\)|\bhrtime\b/,
    'assert an order of events, or use a fake clock (test/fake-time.ts)',
  ],
  [/\bDate\.now\(\).* [<>]=? | [<>]=? .*\bDate\.now\(\)|assert.*\bDate\.now\(\)/, 'give the service a fake clock'],
  [/\bpause\(|\bsleep\(|setTimeout.*timers\/promises/, 'wait for the event (test/until.ts) or advance a fake clock'],
  [/=> (?:void )?(?:done\()?setTimeout\(|await setTimeout\(/, 'wait for the event (test/until.ts)'],
]

/** Files that need real time: waits, pauses, the runner, the simulated server and the workload's clients. */
const EXCEPTIONS = ['until.ts', 'pace.ts', 'runner/', 'eventstoredb/peer/', 'faults/workload/']

const folder = new URL('../', import.meta.url)
const files = readdirSync(fileURLToPath(folder), { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.ts') && !name.includes('node_modules') && name !== 'architecture/determinism.test.ts',
)

test('depend neither on chance nor on the speed of the machine', () => {
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

test('have few exceptions, each of which exists', () => {
  assert.ok(EXCEPTIONS.length <= 5)
  assert.ok(EXCEPTIONS.every((exception) => files.some((name) => name.startsWith(exception))))
})

test.run()
