import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { isEmptyReading } from '../../src/domain/certification/report-parser.ts'
import { PdfReader } from '../../src/reports/pdf-reader.ts'
import type { ProgramLimits } from '../../src/runtime/program-limits.ts'
import { smallPdf } from '../api/harness/form.ts'
import { fixture, reports } from '../fixtures/reports/reports.ts'

const test = suite('the PDF reader')

/** The longest timeout that a timer supports, so that a slow machine never fails a valid report. */
const UNLIMITED: ProgramLimits = { timeoutMs: 2 ** 31 - 1, maxMemoryBytes: Infinity }

const read = (pdf: Buffer, bounds = UNLIMITED) => new PdfReader(bounds).readReport(pdf)

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
  test(`reads the printed values in ${file}`, async () => {
    assert.equal(await read(fixture(file)), reading)
  })
}

test('runs no script and opens no attachment', async () => {
  assert.is((await read(fixture('scripts-and-attachment.pdf'))).number, '1234567890')
})

test('rejects a file that is encrypted, truncated or not a PDF', async () => {
  assert.match(await unreadable(read(fixture('encrypted.pdf'))), /password/i)
  const whole = fixture('gia-pdfkit.pdf')
  const cut = await read(whole.subarray(0, 700)).catch((error: unknown) => error)
  assert.ok(cut instanceof Error || isEmptyReading(cut as Awaited<ReturnType<typeof read>>))
  await unreadable(read(smallPdf(5_000)))
  await unreadable(read(Buffer.alloc(0)))
})

test('aborts a reading that takes too long', async () => {
  assert.match(await unreadable(read(fixture('bomb.pdf'), { ...UNLIMITED, timeoutMs: 1 })), /more than 1 ms/)
})

test('aborts a reading that takes too much memory', async () => {
  if (process.platform !== 'linux') return console.log('NOTE: on systems other than Linux, only the heap is limited')
  assert.match(
    await unreadable(read(fixture('bomb.pdf'), { ...UNLIMITED, maxMemoryBytes: 1 })),
    /more than 1 bytes of memory/,
  )
})

test('has default limits that end a reading that would never finish', async () => {
  await unreadable(new PdfReader().readReport(fixture('bomb.pdf')))
})

test('fails pending readings when it is closed, without calling the report unreadable', async () => {
  const reader = new PdfReader()
  const reading = reader.readReport(fixture('bomb.pdf')).catch((error: unknown) => error)
  reader.close()
  const error = await reading
  assert.ok(error instanceof Error && error.name !== 'UnreadableReport')
})

test.run()
