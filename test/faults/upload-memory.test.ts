import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { attached, smallPdf } from '../api/harness/form.ts'
import { created } from '../api/harness/stones.ts'
import { installed, memoryOf } from './installed.ts'
import { startServer } from './server-process.ts'

const MIB = 1024 * 1024

const test = suite('50 uploads of 10 MB at once')

test('make the server grow by less than 64 MB', async () => {
  const { dataDir, ann, clean } = await installed()
  const server = await startServer(dataDir, { LOG_LEVEL: 'warn' })
  const vendor = ann(server.url)
  const { id } = await created(vendor)
  // What the first uploads load and compile, and the heap they make room for, is there from then on.
  for (let warm = 0; warm < 3; warm++) await attached(vendor, id, smallPdf(10 * MIB))
  const before = memoryOf(server.pid)
  let highest = before.now
  const watch = setInterval(() => (highest = Math.max(highest, memoryOf(server.pid).now)), 10)
  // Twenty-five different reports, twice each: this process holds fewer of them than it sends.
  const pdfs = Array.from({ length: 25 }, () => smallPdf(10 * MIB))
  const started = performance.now()
  await Promise.all([...pdfs, ...pdfs].map((pdf) => attached(vendor, id, pdf)))
  const seconds = (performance.now() - started) / 1000
  clearInterval(watch)
  const grown = highest - before.now
  console.log(`NOTE 50 uploads of 10 MiB took ${seconds.toFixed(1)} s and ${Math.round(grown / MIB)} MiB of memory`)
  assert.ok(grown < 64 * 1_000_000, `${grown} bytes over ${before.now}`)
  await server.stop()
  clean()
})

if (process.platform === 'linux') test.run()
