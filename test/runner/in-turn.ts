/**
 * Runs the test files it is given in one process, one after another, and says behind each that it has ended:
 * `node ... in-turn.ts FILE...`. It ends with exit code 1 when one of them failed.
 */
import { pathToFileURL } from 'node:url'
import { cpuSeconds } from './cpu-time.ts'
import { endLine } from './end-line.ts'

/** What uvu keeps: with UVU_DEFER it runs nothing by itself, and UVU_QUEUE has the suites of the files read so far. */
type Uvu = { UVU_DEFER: 1; UVU_QUEUE: (string | null)[][] }

const uvu = globalThis as unknown as Uvu
uvu.UVU_DEFER = 1
const { exec } = await import('uvu')

let worst = 0
// Its start counts for the first file.
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
