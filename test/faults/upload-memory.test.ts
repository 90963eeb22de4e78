import { readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { attached, smallPdf } from '../api/harness/form.ts'
import { created } from '../api/harness/stones.ts'
import { withInstallation } from './serving.ts'

const MIB = 1024 * 1024

const test = suite('50 uploads of 10 MB at once')

test('make the server grow by less than 64 MB', () =>
  withInstallation(async ({ serve }) => {
    const server = await serve()
    const { id } = await created(server.ann)
    const before = memoryOf(server.pid)
    let highest = before
    // What the very first upload loads and compiles counts as well.
    const watch = setInterval(() => (highest = Math.max(highest, memoryOf(server.pid))), 10)
    // Twenty-five different reports, twice each: this process holds fewer of them than it sends.
    const pdfs = Array.from({ length: 25 }, () => smallPdf(10 * MIB))
    const started = performance.now()
    await Promise.all([...pdfs, ...pdfs].map((pdf) => attached(server.ann, id, pdf)))
    const seconds = (performance.now() - started) / 1000
    clearInterval(watch)
    const grown = highest - before
    console.log(`NOTE 50 uploads of 10 MiB took ${seconds.toFixed(1)} s and ${Math.round(grown / MIB)} MiB of memory`)
    assert.ok(grown < 64 * 1_000_000, `${grown} bytes over ${before}`)
  }))

/** Resident memory in bytes: Linux, /proc/[pid]/status. */
function memoryOf(pid: number): number {
  const [, kib] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'ascii')) ?? []
  return Number(kib) * 1024
}

if (process.platform === 'linux') test.run()
