import { readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Vendor } from '../api/harness/account.ts'
import { file, formBody, formEnd, formHeaders, partHead, text } from '../api/harness/form.ts'
import { expect } from '../api/harness/request.ts'
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
    const started = performance.now()
    // Twenty-five different reports, twice each.
    await Promise.all(Array.from({ length: 50 }, (_, n) => uploadLarge(server.ann, id, n % 25)))
    const seconds = (performance.now() - started) / 1000
    clearInterval(watch)
    const grown = highest - before
    console.log(`NOTE 50 uploads of 10 MiB took ${seconds.toFixed(1)} s and ${Math.round(grown / MIB)} MiB of memory`)
    assert.ok(grown < 64 * 1_000_000, `${grown} bytes over ${before}`)
  }))

const FILLING = Buffer.alloc(MIB, '.')

/** A report of nearly 10 MiB and of this number. All of them share their bytes here: a small machine runs this as well. */
async function uploadLarge(ann: Vendor, product: number, number: number): Promise<void> {
  const texts = formBody([text('product', product), text('laboratory', 'GIA'), text('number', number)])
  const start = Buffer.from(`%PDF-1.7\n%${number}`)
  const end = Buffer.from('\nstartxref\n0\n%%EOF\n\r\n')
  const head = [texts.subarray(0, -formEnd.length), partHead(file('')), start]
  const body = [...head, ...Array.from({ length: 9 }, () => FILLING), FILLING.subarray(0, -1024), end, formEnd]
  expect(201, await ann.send({ method: 'POST', path: '/v4/certification', headers: formHeaders, body }))
}

/** Resident memory in bytes: Linux, /proc/[pid]/status. */
function memoryOf(pid: number): number {
  const [, kib] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'ascii')) ?? []
  return Number(kib) * 1024
}

if (process.platform === 'linux') test.run()
