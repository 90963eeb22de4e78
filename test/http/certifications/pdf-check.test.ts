import * as fc from '../../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { HttpError } from '../../../src/http/kit/http-error.ts'
import { MAX_REPORT_BYTES } from '../../../src/domain/certification/pdf-check.ts'
import { PdfValidator } from '../../../src/http/certifications/upload.ts'
import { fixture, reports } from '../../fixtures/reports/reports.ts'

const test = suite('an uploaded PDF')

/** The kind of error, or undefined if it is accepted. */
/** The status of the error, if the file is rejected. */
function verdict(chunks: readonly Buffer[]): number | undefined {
  const check = new PdfValidator()
  try {
    for (const chunk of chunks) check.update(chunk)
    check.finish()
    return undefined
  } catch (error) {
    if (error instanceof HttpError) return error.status
    throw error
  }
}

test('is accepted from any producer', () => {
  for (const name of [...reports.map(({ file }) => file), 'encrypted.pdf', 'scripts-and-attachment.pdf']) {
    assert.is(verdict([fixture(name)]), undefined, name)
  }
})

test('is checked the same however it is split into chunks', () => {
  const contents = fc.constantFrom(
    Buffer.from('%PDF-1.7\nstuff\n%%EOF'),
    Buffer.from(`%PDF-1.7\n${'x'.repeat(1_500)}%%EOF\n${' '.repeat(3_000)}`),
    Buffer.from(`%PDF-1.7\n%%EOF${'x'.repeat(3_020)}`),
    Buffer.from(`${'\n'.repeat(1_019)}%PDF-1.7\n%%EOF`),
    Buffer.from(`${'\n'.repeat(1_020)}%PDF-1.7\n%%EOF`),
    Buffer.from('%%EOF\n%PDF-1.7\n'),
    Buffer.from('%PDX-1.7\n%%EOF'),
    Buffer.from('%PDF-1.7\n%%EO'),
    Buffer.from(''),
  )
  fc.assert(
    fc.property(contents, fc.array(fc.nat(4_000), { maxLength: 8 }), (content, cuts) => {
      const at = [0, ...cuts.filter((cut) => cut < content.length).sort((a, b) => a - b), content.length]
      const chunks = at.slice(1).map((end, index) => content.subarray(at[index], end))
      assert.is(verdict(chunks), verdict([content]))
    }),
  )
})

test('has its header within the first 1,024 bytes, after any content', () => {
  const before = (count: number) => verdict([Buffer.from(`${'x'.repeat(count)}%PDF-1.7\n%%EOF`)])
  assert.is(before(1_019), undefined)
  assert.is(before(1_020), 415)
  assert.is(verdict([Buffer.from('\ufeff%PDF-1.7\n%%EOF')]), undefined)
})

test('has an end-of-file mark after its header, followed by any content', () => {
  assert.is(verdict([Buffer.from('%PDF-1.7\n%%EOF'), Buffer.alloc(100_000, '<p>')]), undefined)
  assert.is(verdict([Buffer.from('%%EOF\n%PDF-1.7\n')]), 415)
})

test('is rejected once the header is missing, and at the first byte over 10 MiB', () => {
  const check = new PdfValidator()
  check.update(Buffer.alloc(1_023))
  assert.throws(() => check.update(Buffer.alloc(1)), /%PDF- is missing in the first 1024 bytes/)
  const large = new PdfValidator()
  large.update(Buffer.concat([Buffer.from('%PDF-'), Buffer.alloc(MAX_REPORT_BYTES - 5)]))
  assert.throws(() => large.update(Buffer.from('x')), /at most 10485760 bytes/)
})

test.run()
