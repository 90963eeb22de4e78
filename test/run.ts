/**
 * Runs every test file in its own process, two at a time, and ends with `N passed, N failed`.
 * `--full` adds the long forms (ADAMANT_FULL=1); further arguments are substrings of paths to run.
 */
import { spawn } from 'node:child_process'
import { globSync } from './glob.ts'

const words = process.argv.slice(2)
const full = words.includes('--full')
const wanted = words.filter((word) => !word.startsWith('--'))
const files = globSync(new URL('.', import.meta.url)).filter(
  (file) => wanted.length === 0 || wanted.some((word) => file.includes(word)),
)

type Outcome = { file: string; passed: number; failed: number; output: string; seconds: number }

/** A file that prints no summary, or dies, counts as one failure: silence is not success. */
function run(file: string): Promise<Outcome> {
  return new Promise((done) => {
    const started = Date.now()
    const child = spawn(process.execPath, ['--import', 'tsx', file], {
      env: { ...process.env, FORCE_COLOR: '0', ...(full && { ADAMANT_FULL: '1' }) },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.on('close', (code) => {
      const total = sum(output, /^\s*Total:\s+(\d+)/gm)
      const passed = sum(output, /^\s*Passed:\s+(\d+)/gm)
      const failed = total === 0 ? 1 : Math.max(total - passed, code === 0 ? 0 : 1)
      done({ file, passed, failed, output, seconds: (Date.now() - started) / 1000 })
    })
  })
}

const sum = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].reduce((n, match) => n + Number(match[1]), 0)

let passed = 0
let failed = 0
const queue = [...files]

async function worker(): Promise<void> {
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    const outcome = await run(file)
    passed += outcome.passed
    failed += outcome.failed
    const mark = outcome.failed === 0 ? 'ok  ' : 'FAIL'
    console.log(`${mark} ${file} (${outcome.passed} in ${outcome.seconds.toFixed(1)} s)`)
    if (outcome.failed > 0 || outcome.output.includes('NOTE')) console.log(outcome.output)
  }
}

await Promise.all([worker(), worker()])
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1
