import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { safeFileName } from '../../src/domain/certification/certification.ts'
import { reportPage } from '../../src/domain/certification/page-cells.ts'
import { certificationText, fromForm, readCertification } from '../../src/representations/certification.ts'
import { PATHS } from '../../src/representations/json.ts'

const messages = (input: unknown) => (readCertification(input).faults ?? []).map(({ message }) => message)
const form = (parts: Record<string, string>) => readCertification(fromForm(new Map(Object.entries(parts))))

const test = suite('a certification on its way in')

test('names its diamond and laboratory; the number may be left out', () => {
  const value = { diamond: 337, laboratory: 'GIA', number: null }
  assert.equal(readCertification({ product: 337, laboratory: 'GIA' }).value, value)
  assert.equal(readCertification({ product: 337, laboratory: 'GIA', number: null }).value, value)
  assert.equal(form({ product: '337', laboratory: 'GIA', number: '' }).value, value)
  assert.equal(form({ product: '337', laboratory: 'GIA', number: '33188' }).value, { ...value, number: '33188' })
})

test('is told all that is wrong with it at once', () => {
  const { faults } = readCertification({ product: '337', laboratory: 'EGL', number: 33188, labratory: 'GIA' })
  assert.equal(
    (faults ?? []).map(({ pointer }) => pointer),
    ['/product', '/laboratory', '/number', '/labratory'],
  )
  assert.match(faults?.at(-1)?.message ?? '', /labratory is no field of a certification; did you mean laboratory\?/)
  assert.equal(messages({}).length, 2)
  assert.equal(messages([]).length, 1)
})

test('may carry what the service assigns, as when something that was read is sent back', () => {
  assert.equal(messages({ id: 1, url: 'https://x', file: null, product: 1, laboratory: 'HRD', number: '1' }), [])
})

test('refuses a product that is no diamond id', () => {
  for (const product of [0, -1, 1.5, 2 ** 53, '', true, {}]) {
    assert.match(messages({ product, laboratory: 'GIA' })[0] ?? '', /^product must be/)
  }
  assert.is(form({ product: ' 1 ', laboratory: 'GIA' }).value?.diamond, 1)
  for (const product of ['', '0', '1.5', '1e3', '1 2', '99999999999999999', '-1', '0x10']) {
    assert.match(form({ product, laboratory: 'GIA' }).faults?.[0]?.message ?? '', /^product must be/, product)
  }
})

test('loses the blanks around its texts', () => {
  const value = { diamond: 1, laboratory: 'GIA', number: '33 188' }
  assert.equal(readCertification({ product: 1, laboratory: ' GIA ', number: '\t33 188\u00a0' }).value, value)
})

test('loses characters of its number that nobody sees', () => {
  assert.is(readCertification({ product: 1, laboratory: 'GIA', number: '\u202e33\u200b188' }).value?.number, '33188')
})

test('refuses a number that is too long or not printable', () => {
  for (const number of ['', '  ', 'x'.repeat(65), 'a\u0000b', 'a\nb', '\u202e', '\ud800']) {
    assert.match(messages({ product: 1, laboratory: 'GIA', number })[0] ?? '', /^number must be/)
  }
})

test('keeps of a hostile file name what is a name', () => {
  assert.is(safeFileName('2136273512.pdf'), '2136273512.pdf')
  assert.is(safeFileName('../../etc/passwd'), 'passwd.pdf')
  assert.is(safeFileName('C:\\reports\\stone.PDF'), 'stone.pdf')
  assert.is(safeFileName('a"; filename="b.exe\r\nX-Evil: 1.pdf'), 'a; filename=b.exeX-Evil 1.pdf')
  assert.is(safeFileName('fdp\u202excod.pdf'), 'fdpxcod.pdf')
  assert.is(safeFileName('Zertifikat für Ü.pdf'), 'Zertifikat für Ü.pdf')
  assert.is(safeFileName('x'.repeat(5000)), `${'x'.repeat(100)}.pdf`)
  for (const nothing of [undefined, '', '.pdf', '..', '/', '\u0000\u0007', ' . '])
    assert.is(safeFileName(nothing), null)
})

test('links to the laboratory where its page for a number is known', () => {
  assert.is(reportPage('GIA', '2136273512'), 'https://www.gia.edu/report-check?reportno=2136273512')
  assert.is(reportPage('IGI', 'LG 1&2/ü'), 'https://www.igi.org/verify-your-report/?r=LG%201%262%2F%C3%BC')
  assert.is(reportPage('GIA', null), null)
  assert.is(reportPage('IIDGR', '1'), null)
})

test('is shown with its fields in the order of the API', () => {
  const shown = certificationText({ id: 330, laboratory: 'GIA', number: '33"188', file: null }, 0, PATHS)
  assert.equal(Object.entries(JSON.parse(shown) as object), [
    ['id', 330],
    ['laboratory', 'GIA'],
    ['number', '33"188'],
    ['url', 'https://www.gia.edu/report-check?reportno=33%22188'],
    ['file', null],
  ])
})

test.run()
