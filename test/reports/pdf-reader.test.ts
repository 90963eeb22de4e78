import { readFileSync, readdirSync } from 'node:fs'
import { Readable } from 'node:stream'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { isEmpty } from '../../src/domain/certification/report-text.ts'
import { PdfReader, type Bounds } from '../../src/reports/pdf-reader.ts'
import { smallPdf } from '../api/harness/form.ts'
import { fixture, reports } from '../fixtures/reports/reports.ts'

const test = suite('reading a report')

const read = (pdf: Buffer, bounds?: Bounds) => new PdfReader(bounds).read(Readable.from([pdf]))

/** @returns the reason */
async function unreadable(reading: Promise<unknown>): Promise<string> {
  try {
    await reading
  } catch (error) {
    assert.is(error instanceof Error && error.name, 'UnreadableReport', String(error))
    return error instanceof Error ? error.message : ''
  }
  throw new Error('it was read')
}

for (const { file, reading } of reports) {
  test(`finds in ${file} what its laboratory printed`, async () => {
    assert.equal(await read(fixture(file)), reading)
  })
}

test('runs no script and opens no attachment', async () => {
  assert.is((await read(fixture('scripts-and-attachment.pdf'))).number, '1234567890')
})

test('gives up what is encrypted, cut off or no PDF inside', async () => {
  assert.match(await unreadable(read(fixture('encrypted.pdf'))), /password/i)
  const whole = fixture('gia-pdfkit.pdf')
  const cut = await read(whole.subarray(0, 700)).catch((error: unknown) => error)
  assert.ok(cut instanceof Error || isEmpty(cut as Awaited<ReturnType<typeof read>>))
  await unreadable(read(smallPdf(5_000)))
  await unreadable(read(Buffer.alloc(0)))
})

test('is ended when it takes too long', async () => {
  assert.match(await unreadable(read(fixture('bomb.pdf'), { time: 300, memory: Infinity })), /more than 300 ms/)
})

test('is ended when it takes too much memory, and never has more than 256 MB', async () => {
  const peak = watchChildren()
  const started = performance.now()
  await unreadable(read(fixture('bomb.pdf')))
  assert.ok(performance.now() - started < 15_000)
  await Promise.allSettled([read(smallPdf(10_485_760)), read(fixture('gia-pdfkit.pdf'))])
  const bytes = peak.stop()
  console.log(`NOTE the reading process had at most ${Math.round(bytes / 1024 ** 2)} MB`)
  if (process.platform === 'linux') assert.ok(bytes > 0 && bytes < 256 * 1024 ** 2, `${bytes} bytes`)
})

test('ends with the reader, and is no verdict on the report then', async () => {
  const reader = new PdfReader()
  const reading = reader.read(Readable.from([fixture('bomb.pdf')])).catch((error: unknown) => error)
  reader.close()
  const error = await reading
  assert.ok(error instanceof Error && error.name !== 'UnreadableReport')
})

/** Follows the largest resident memory of any process that this one has started. */
function watchChildren(): { stop(): number } {
  let peak = 0
  const timer = setInterval(() => {
    for (const pid of childrenOf(process.pid)) peak = Math.max(peak, peakOf(pid))
  }, 5)
  return {
    stop() {
      clearInterval(timer)
      return peak
    },
  }
}

function childrenOf(pid: number): string[] {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`)
    return tasks.flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'ascii').split(' ').filter(Boolean),
    )
  } catch {
    return []
  }
}

function peakOf(pid: string): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'ascii'))?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}

test.run()
