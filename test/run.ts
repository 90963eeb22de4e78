/**
 * Runs every test file in its own process, two at a time where there is room, and ends with `N passed, N failed`.
 * `--full` adds the long forms (ADAMANT_FULL=1); `--engines esdb+sqlite` (test/engines.ts) runs what starts services
 * on these engines; further arguments are substrings of paths to run.
 */
import { spawn } from 'node:child_process'
import { availableParallelism, totalmem } from 'node:os'
import { relative } from 'node:path'
import { parseArgs } from 'node:util'
import { refusalOf } from '../src/runtime/node-version.ts'
import { COMBINATIONS } from './engines.ts'
import { globSync } from './glob.ts'

/** Seconds that one file may take, and with the long forms. */
const LIMIT = 300
const FULL_LIMIT = 1_200

/** Bytes of memory from which on two files run at a time: a browser, a service and their test take half a gigabyte. */
const ROOM_FOR_TWO = 2 * 1024 ** 3
const memory = Math.min(totalmem(), process.constrainedMemory() || Infinity)
const AT_A_TIME = memory >= ROOM_FOR_TWO && availableParallelism() > 1 ? 2 : 1

/** What runs with `--engines` where no path is named: what starts the service or its stores through test/engines.ts. */
const ON_ENGINES = [
  'test/api/',
  'test/model/',
  'test/browser/',
  ...['commands', 'dead-letters', 'import', 'rescore', 'serve'].map((name) => `test/cli/${name}.test.ts`),
  ...['secrets-killed', 'secrets-two-servers'].map((name) => `test/faults/${name}.test.ts`),
  // These name their read models themselves, and take the log from here.
  'test/faults/mongodb/',
]

const refusal = refusalOf(process.versions.node, process.execPath)
if (refusal !== undefined) {
  console.error(refusal)
  process.exit(2)
}
const { values, positionals } = parseArgs({
  options: { full: { type: 'boolean', default: false }, engines: { type: 'string' } },
  allowPositionals: true,
})
const { full, engines } = values
if (engines !== undefined && !COMBINATIONS.some((known) => known === engines)) {
  console.error(`--engines must be one of ${COMBINATIONS.join(', ')}, got ${engines}`)
  process.exit(2)
}
const limit = full ? FULL_LIMIT : LIMIT
const wanted = positionals.length > 0 || engines === undefined ? positionals : ON_ENGINES
const files = globSync(new URL('.', import.meta.url))
  .map((file) => relative('.', file))
  .filter((file) => wanted.length === 0 || wanted.some((word) => file.includes(word)))

type Outcome = { file: string; passed: number; failed: number; output: string; seconds: number; end: string }

const running = new Set<number>()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    for (const pid of running) endGroup(pid)
    process.exit(130)
  })
}

/**
 * A file that prints no summary, dies or does not end counts as one failure: silence is not success. One that says what
 * it left out, and why, does not.
 */
function run(file: string): Promise<Outcome> {
  return new Promise((done) => {
    const started = performance.now()
    // A group of its own, so that a file that does not end is ended with the processes it started.
    const child = spawn(process.execPath, ['--import', 'tsx', file], {
      env: {
        ...process.env,
        FORCE_COLOR: '0',
        ...(full && { ADAMANT_FULL: '1' }),
        ...(engines && { ENGINES: engines }),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    const pid = child.pid ?? 0
    running.add(pid)
    let output = ''
    let late = false
    const timer = setTimeout(() => {
      late = true
      endGroup(pid)
    }, limit * 1000)
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.on('exit', () => endGroup(pid))
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      running.delete(pid)
      const total = sum(output, /^\s*Total:\s+(\d+)/gm)
      const passed = sum(output, /^\s*Passed:\s+(\d+)/gm)
      const leftOut = code === 0 && /^LEFT OUT: /m.test(output)
      const failed =
        (total === 0 && !leftOut) || late ? Math.max(1, total - passed) : Math.max(total - passed, code === 0 ? 0 : 1)
      const end = late ? `stopped after ${limit} s` : `exit code ${code ?? signal}`
      done({ file, passed, failed, output, seconds: (performance.now() - started) / 1000, end })
    })
  })
}

/** Ends what is left of a test file's processes; a file that leaves some behind must not disturb the next. */
function endGroup(pid: number): void {
  try {
    if (pid > 0) process.kill(-pid, 'SIGKILL')
  } catch {
    // There was none left.
  }
}

const sum = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].reduce((n, match) => n + Number(match[1]), 0)

const outcomes: Outcome[] = []
const queue = [...files]

async function worker(): Promise<void> {
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    const outcome = await run(file)
    outcomes.push(outcome)
    report(outcome)
  }
}

function report({ file, passed, failed, output, seconds, end }: Outcome): void {
  console.log(`${failed === 0 ? 'ok  ' : 'FAIL'} ${file} (${passed} in ${seconds.toFixed(1)} s)`)
  if (failed > 0) console.log(`${indent(output)}\n     ${file}: ${passed} passed, ${failed} failed, ${end}`)
  else if (/NOTE|LEFT OUT/.test(output)) console.log(indent(output))
}

const indent = (text: string) => text.trimEnd().replaceAll(/^/gm, '     ')

const started = performance.now()
if (engines !== undefined) console.log(`On the engines ${engines}`)
await Promise.all(Array.from({ length: AT_A_TIME }, worker))
const passed = outcomes.reduce((total, outcome) => total + outcome.passed, 0)
const failed = outcomes.reduce((total, outcome) => total + outcome.failed, 0)
const failing = outcomes.filter((outcome) => outcome.failed > 0)
if (files.length === 0) console.log(`No test file's path contains ${wanted.join(' or ')}`)
if (failing.length > 0) console.log(`\nFailed; run one alone with \`npm test -- FILE\`:`)
for (const { file, end } of failing) console.log(`  ${file} (${end})`)
const leaving = outcomes.filter(({ output }) => output.includes('LEFT OUT: ')).length
if (leaving > 0)
  console.log(`Left out, for what is said above: all or a part of ${leaving} files; README.md tells how to run them`)
const where = engines === undefined ? '' : ` on the engines ${engines}`
console.log(`${outcomes.length} files in ${((performance.now() - started) / 1000).toFixed(0)} s${where}`)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1
