/**
 * Runs a tier N times under CPU and disk load, each time with another seed, and prints the failures:
 * `npm run test:repeat -- N [--tier quick|slow|engines]`. A test that fails here depends on timing or chance.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  options: { tier: { type: 'string', default: 'quick' }, seed: { type: 'string', default: '1' } },
  allowPositionals: true,
})
const times = Number(positionals[0] ?? 20)
if (!Number.isSafeInteger(times) || times < 1) {
  console.error(`npm run test:repeat -- N: must be a whole number from 1, got ${positionals[0]}`)
  process.exit(2)
}

/** Keeps a core busy. */
const BUSY = 'for (;;);'

/** Rewrites a file of 8 MiB in an endless loop, and waits for the disk. */
const WRITER = `
  const { openSync, writeSync, fsyncSync } = require('node:fs')
  const file = openSync(process.argv[1], 'w')
  const block = Buffer.alloc(64 * 1024, 1)
  for (let at = 0; ; at = (at + 1) % 128) {
    writeSync(file, block, 0, block.length, at * block.length)
    if (at % 16 === 0) fsyncSync(file)
  }`

const folder = mkdtempSync(join(tmpdir(), 'adamant-load-'))
const started = (...words: string[]): ChildProcess => spawn(process.execPath, ['-e', ...words], { stdio: 'ignore' })
const load = [
  ...Array.from({ length: availableParallelism() }, () => started(BUSY)),
  started(WRITER, join(folder, 'written')),
]
for (const child of load) child.unref()
process.once('exit', () => {
  for (const child of load) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))

/** Runs the tier once. @returns its output, and whether all tests passed */
function run(seed: number): Promise<{ readonly output: string; readonly passed: boolean }> {
  const program = fileURLToPath(new URL('run.ts', import.meta.url))
  const words = [...process.execArgv, program, '--tier', values.tier]
  const child = spawn(process.execPath, words, { env: { ...process.env, SEED: String(seed) } })
  return new Promise((done) => {
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.on('close', (code) => done({ output, passed: code === 0 }))
  })
}

let failed = 0
for (let time = 0; time < times; time++) {
  const seed = Number(values.seed) + time
  const { output, passed } = await run(seed)
  const lines = output.trimEnd().split('\n')
  console.log(`${passed ? 'ok  ' : 'FAIL'} ${values.tier}, seed ${seed}: ${lines.slice(-2).join(', ')}`)
  if (passed) continue
  failed++
  const from = lines.findIndex((line) => line.startsWith('FAIL'))
  console.log(lines.slice(Math.max(0, from)).join('\n'))
}
console.log(`${times - failed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
