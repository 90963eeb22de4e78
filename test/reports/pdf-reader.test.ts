import { Readable } from 'node:stream'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { isEmptyReading } from '../../src/domain/certification/report-parser.ts'
import { PdfReader, type PdfReaderLimits } from '../../src/reports/pdf-reader.ts'
import { smallPdf } from '../api/harness/form.ts'
import { fixture, reports } from '../fixtures/reports/reports.ts'

const test = suite('reading a report')

/** A timer's longest: no machine is too slow for a report that is right. */
const PATIENT: PdfReaderLimits = { timeoutMs: 2 ** 31 - 1, maxMemoryBytes: Infinity }

const read = (pdf: Buffer, bounds = PATIENT) => new PdfReader(bounds).read(Readable.from([pdf]))

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
  assert.ok(cut instanceof Error || isEmptyReading(cut as Awaited<ReturnType<typeof read>>))
  await unreadable(read(smallPdf(5_000)))
  await unreadable(read(Buffer.alloc(0)))
})

test('is ended when it takes too long', async () => {
  assert.match(await unreadable(read(fixture('bomb.pdf'), { ...PATIENT, timeoutMs: 1 })), /more than 1 ms/)
})

test('is ended when it takes too much memory', async () => {
  if (process.platform !== 'linux') return console.log('NOTE: elsewhere than on Linux its heap alone is bounded')
  assert.match(
    await unreadable(read(fixture('bomb.pdf'), { ...PATIENT, maxMemoryBytes: 1 })),
    /more than 1 bytes of memory/,
  )
})

test('has bounds by which what never ends is given up', async () => {
  await unreadable(new PdfReader().read(Readable.from([fixture('bomb.pdf')])))
})

test('ends with the reader, and is no verdict on the report then', async () => {
  const reader = new PdfReader()
  const reading = reader.read(Readable.from([fixture('bomb.pdf')])).catch((error: unknown) => error)
  reader.close()
  const error = await reading
  assert.ok(error instanceof Error && error.name !== 'UnreadableReport')
})

test.run()
