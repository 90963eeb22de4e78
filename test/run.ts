/**
 * Compiles the sources once, runs every test file, some at a time, and ends with `N passed, N failed`.
 * `--full` adds the long forms (ADAMANT_FULL=1); `--engines esdb+sqlite` (test/engines.ts) runs what starts services
 * on these engines; `--times` ends with what each file took; further arguments are substrings of paths to run.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir, totalmem } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { ENDPOINTS } from '../src/http/endpoints.ts'
import { refusalOf } from '../src/runtime/node-version.ts'
import { answersSeen, SEEN_ANSWERS, unseenAnswers } from './api/harness/seen-answers.ts'
import { COMBINATIONS } from './engines.ts'
import { globSync } from './glob.ts'
import { compileOnce } from './runner/compile.ts'
import { folderInMemory } from './runner/disk.ts'
import { processesFor } from './runner/processes.ts'
import { timesOf } from './runner/times.ts'
import { SEED } from './seeded.ts'
import { endAll, runFiles, type Outcome } from './runner/run-files.ts'

/** Seconds after which a file counts as hanging, and with the long forms. */
const LIMIT = 900
const FULL_LIMIT = 2_400

/** Bytes of memory for each process of tests: a browser, a service and their test take half a gigabyte. */
const ROOM = 1024 ** 3
/**
 * Two compute on two cores while the others wait: the longest files spend most of their time on servers, claims and clocks.
 * A server of MongoDB's protocol computes beside each, and with five of them a call takes the seconds that it may take.
 */
const MOST = 5
const MOST_ON_SERVERS = 3

/** What runs with `--engines` where no path is named: what starts the service or its stores through test/engines.ts. */
const ON_ENGINES = [
  'test/api/',
  'test/model/',
  'test/browser/',
  ...['commands', 'dead-letters', 'import', 'rescore', 'serve'].map((name) => `test/cli/${name}.test.ts`),
  'test/cli/import/',
  ...['secrets-killed', 'secrets-two-servers'].map((name) => `test/faults/${name}.test.ts`),
  // These name their read models themselves, and take the log from here.
  'test/faults/mongodb/',
]

/** The name of a test that failed, and why, in what uvu prints. */
const FAILED_TEST = /^ +FAIL +(.+)\n +(.+)/gm

const refusal = refusalOf(process.versions.node, process.execPath)
if (refusal !== undefined) {
  console.error(refusal)
  process.exit(2)
}
const { values, positionals } = parseArgs({
  options: {
    full: { type: 'boolean', default: false },
    times: { type: 'boolean', default: false },
    engines: { type: 'string' },
  },
  allowPositionals: true,
})
const { full, times, engines } = values
if (engines !== undefined && !COMBINATIONS.some((known) => known === engines)) {
  console.error(`--engines must be one of ${COMBINATIONS.join(', ')}, got ${engines}`)
  process.exit(2)
}
const atATime = lanes()
const limit = full ? FULL_LIMIT : LIMIT
const wanted = positionals.length > 0 || engines === undefined ? positionals : ON_ENGINES
const files = globSync(new URL('.', import.meta.url))
  .map((file) => relative('.', file))
  .filter((file) => wanted.length === 0 || wanted.some((word) => file.includes(word)))

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    endAll()
    process.exit(130)
  })
}

const started = performance.now()
const { words, folder } = compileOnce() ?? process.exit(1)
const seenIn = mkdtempSync(join(tmpdir(), 'adamant-answers-'))
process.once('exit', () => rmSync(seenIn, { recursive: true, force: true }))
const disk = folderInMemory(full)
const env = {
  ...process.env,
  ...(disk && { TMPDIR: disk }),
  FORCE_COLOR: '0',
  NODE_COMPILE_CACHE: folder,
  ...(full && { ADAMANT_FULL: '1' }),
  ...(engines && { ENGINES: engines }),
  [SEEN_ANSWERS]: seenIn,
}

const outcomes: Outcome[] = []
const queue = processesFor(files)

function lanes(): number {
  if (availableParallelism() === 1) return 1
  const memory = Math.min(totalmem(), process.constrainedMemory() || Infinity)
  const most = engines?.includes('mongodb') === true ? MOST_ON_SERVERS : MOST
  return Math.max(1, Math.min(most, Math.floor(memory / ROOM)))
}

async function lane(): Promise<void> {
  for (let together = queue.shift(); together !== undefined; together = queue.shift()) {
    await runFiles(together, { words, env, limit }, (outcome) => {
      outcomes.push(outcome)
      report(outcome)
    })
  }
}

function report({ file, passed, failed, output, seconds, end }: Outcome): void {
  console.log(`${failed === 0 ? 'ok  ' : 'FAIL'} ${file} (${passed} in ${seconds.toFixed(1)} s)`)
  if (failed > 0) console.log(`${indent(output)}\n     ${file}: ${passed} passed, ${failed} failed, ${end}`)
  else if (/NOTE|LEFT OUT/.test(output)) console.log(indent(output))
}

const indent = (text: string) => text.trimEnd().replaceAll(/^/gm, '     ')

if (engines !== undefined) console.log(`On the engines ${engines}`)
await Promise.all(Array.from({ length: atATime }, lane))
// A part of the files sees a part of the answers.
const unseen = wanted.length > 0 ? [] : unseenAnswers(ENDPOINTS, answersSeen(seenIn))
const passed = outcomes.reduce((total, outcome) => total + outcome.passed, 0)
const failed = outcomes.reduce((total, outcome) => total + outcome.failed, unseen.length)
const failing = outcomes.filter((outcome) => outcome.failed > 0)
if (files.length === 0) console.log(`No test file's path contains ${wanted.join(' or ')}`)
if (failing.length > 0) {
  console.log(`\nFailed; run one alone, with the same choices, with \`SEED=${SEED} npm test -- FILE\`:`)
}
for (const { file, end, output } of failing) {
  console.log(`  ${file} (${end})`)
  for (const [, test, reason] of output.matchAll(FAILED_TEST)) console.log(`    ${test}: ${reason}`)
}
if (unseen.length > 0) console.log(`\nDocumented, and seen by no test:`)
for (const answer of unseen) console.log(`  ${answer}`)
const leaving = outcomes.filter(({ output }) => output.includes('LEFT OUT: ')).length
if (leaving > 0)
  console.log(`Left out, for what is said above: all or a part of ${leaving} files; README.md tells how to run them`)
if (times) for (const line of timesOf(outcomes)) console.log(line)
const where = engines === undefined ? '' : ` on the engines ${engines}`
console.log(`${outcomes.length} files in ${((performance.now() - started) / 1000).toFixed(0)} s${where}`)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1
