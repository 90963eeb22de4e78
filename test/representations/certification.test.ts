import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { pdfFileName } from '../../src/domain/certification/certification.ts'
import { reportCheckUrl } from '../../src/domain/certification/page-cells.ts'
import {
  certificationJson,
  certificationFromForm,
  parseCertification,
} from '../../src/representations/certification.ts'
import { PATH_LINKS } from '../../src/representations/json.ts'

const messages = (input: unknown) => (parseCertification(input).errors ?? []).map(({ message }) => message)
const form = (parts: Record<string, string>) =>
  parseCertification(certificationFromForm(new Map(Object.entries(parts))))

const test = suite('the parser of certifications')

test('requires a diamond and a laboratory, and accepts a missing number', () => {
  const value = { diamond: 337, laboratory: 'GIA', number: null }
  assert.equal(parseCertification({ product: 337, laboratory: 'GIA' }).value, value)
  assert.equal(parseCertification({ product: 337, laboratory: 'GIA', number: null }).value, value)
  assert.equal(form({ product: '337', laboratory: 'GIA', number: '' }).value, value)
  assert.equal(form({ product: '337', laboratory: 'GIA', number: '33188' }).value, { ...value, number: '33188' })
})

test('reports all errors at once', () => {
  const { errors } = parseCertification({ product: '337', laboratory: 'EGL', number: 33188, labratory: 'GIA' })
  assert.equal(
    (errors ?? []).map(({ pointer }) => pointer),
    ['/product', '/laboratory', '/number', '/labratory'],
  )
  assert.match(errors?.at(-1)?.message ?? '', /labratory is not a field of a certification; did you mean laboratory\?/)
  assert.equal(messages({}).length, 2)
  assert.equal(messages([]).length, 1)
})

test('ignores assigned members, so that a client can send back a response', () => {
  assert.equal(messages({ id: 1, url: 'https://x', file: null, product: 1, laboratory: 'HRD', number: '1' }), [])
})

test('rejects a product that is not a diamond id', () => {
  for (const product of [0, -1, 1.5, 2 ** 53, '', true, {}]) {
    assert.match(messages({ product, laboratory: 'GIA' })[0] ?? '', /^product must be/)
  }
  assert.is(form({ product: ' 1 ', laboratory: 'GIA' }).value?.diamond, 1)
  for (const product of ['', '0', '1.5', '1e3', '1 2', '99999999999999999', '-1', '0x10']) {
    assert.match(form({ product, laboratory: 'GIA' }).errors?.[0]?.message ?? '', /^product must be/, product)
  }
})

test('trims white space around texts', () => {
  const value = { diamond: 1, laboratory: 'GIA', number: '33 188' }
  assert.equal(parseCertification({ product: 1, laboratory: ' GIA ', number: '\t33 188\u00a0' }).value, value)
})

test('removes invisible characters from the number', () => {
  assert.is(parseCertification({ product: 1, laboratory: 'GIA', number: '\u202e33\u200b188' }).value?.number, '33188')
})

test('rejects a number that is too long or not printable', () => {
  for (const number of ['', '  ', 'x'.repeat(65), 'a\u0000b', 'a\nb', '\u202e', '\ud800']) {
    assert.match(messages({ product: 1, laboratory: 'GIA', number })[0] ?? '', /^number must be/)
  }
})

test('sanitizes a hostile file name', () => {
  assert.is(pdfFileName('2136273512.pdf'), '2136273512.pdf')
  assert.is(pdfFileName('../../etc/passwd'), 'passwd.pdf')
  assert.is(pdfFileName('C:\\reports\\stone.PDF'), 'stone.pdf')
  assert.is(pdfFileName('a"; filename="b.exe\r\nX-Evil: 1.pdf'), 'a; filename=b.exeX-Evil 1.pdf')
  assert.is(pdfFileName('fdp\u202excod.pdf'), 'fdpxcod.pdf')
  assert.is(pdfFileName('Zertifikat für Ü.pdf'), 'Zertifikat für Ü.pdf')
  assert.is(pdfFileName('x'.repeat(5000)), `${'x'.repeat(100)}.pdf`)
  for (const nothing of [undefined, '', '.pdf', '..', '/', '\u0000\u0007', ' . ']) assert.is(pdfFileName(nothing), null)
})

test("links to the laboratory's report check if its URL is known", () => {
  assert.is(reportCheckUrl('GIA', '2136273512'), 'https://www.gia.edu/report-check?reportno=2136273512')
  assert.is(reportCheckUrl('IGI', 'LG 1&2/ü'), 'https://www.igi.org/verify-your-report/?r=LG%201%262%2F%C3%BC')
  assert.is(reportCheckUrl('GIA', null), null)
  assert.is(reportCheckUrl('IIDGR', '1'), null)
})

test('serializes fields in the order of the API', () => {
  const shown = certificationJson({ id: 330, laboratory: 'GIA', number: '33"188', file: null }, 0, PATH_LINKS)
  assert.equal(Object.entries(JSON.parse(shown) as object), [
    ['id', 330],
    ['laboratory', 'GIA'],
    ['number', '33"188'],
    ['url', 'https://www.gia.edu/report-check?reportno=33%22188'],
    ['file', null],
  ])
})

test.run()
