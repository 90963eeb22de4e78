/**
 * Runs test files sequentially in one process and prints a line when each has ended: `node ... in-turn.ts FILE...`.
 * The exit code is 1 if one of them failed.
 */
import { pathToFileURL } from 'node:url'
import { cpuSeconds } from './cpu-time.ts'
import { endLine } from './end-line.ts'

/** uvu's globals: with UVU_DEFER, suites don't start automatically; UVU_QUEUE has the suites of the imported files. */
type Uvu = { UVU_DEFER: 1; UVU_QUEUE: (string | null)[][] }

const uvu = globalThis as unknown as Uvu
uvu.UVU_DEFER = 1
const { exec } = await import('uvu')

let worst = 0
// The start of the process counts towards the first file.
let counted = 0
for (const file of process.argv.slice(2)) {
  uvu.UVU_QUEUE.splice(0, Infinity, [null])
  process.exitCode = 0
  try {
    await import(pathToFileURL(file).href)
    await exec()
  } catch (error) {
    console.error(error)
    process.exitCode = 1
  }
  worst = Math.max(worst, Number(process.exitCode))
  const cpu = cpuSeconds()
  process.stdout.write(endLine(file, Number(process.exitCode), cpu - counted))
  counted = cpu
}
process.exitCode = worst
