import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import writeWorkbook from 'write-excel-file/node'
import { dryRunSuite, resultOf } from './dry-run.ts'

const test = dryRunSuite('an import of a workbook')

type Value = string | number | boolean | Date | null
type Sheets = Readonly<Record<string, readonly (readonly Value[])[]>>

/** A workbook (`.xlsx`) with these sheets. */
const workbook = (sheets: Sheets): Promise<Buffer> =>
  writeWorkbook(
    Object.entries(sheets).map(([sheet, rows]) => ({ sheet, data: rows.map((row) => row.map(cellOf)) })),
  ).toBuffer()

const cellOf = (value: Value) =>
  value instanceof Date ? { value, type: Date, format: 'dd.mm.yyyy' } : value === null ? null : { value }

const HEADER = ['sku', 'cutShape', 'carat']

test('reads texts as texts and numbers as numbers', async ({ dryRun }) => {
  const cells = await workbook({
    Stones: [
      ['sku', 'cutShape', 'carat', 'price', 'isLabGrown', 'Date'],
      ['00071', 'Oval Brilliant', 0.71000000000000008, 1.2e3, true, new Date('2026-05-01')],
      [1234567890, 'Pear', 1.234, 1234.5, false, null],
    ],
  })
  const { first, err } = resultOf(await dryRun(cells))
  assert.equal(first, [
    { sku: '00071', price: 1200, isLabGrown: true, cutShape: 'Oval', carat: 0.71 },
    { sku: '1234567890', price: 1234.5, isLabGrown: false, cutShape: 'Pear', carat: 1.234 },
  ])
  assert.match(err, 'carat, price, isLabGrown, Date (ignored) (sheet Stones)')
})

test('accepts numbers together with texts of either decimal separator', async ({ dryRun }) => {
  const cells = await workbook({
    Stones: [
      [...HEADER, 'price'],
      ['A', 'Round', 1.234, '1.200,50'],
      ['B', 'Round', '0,71', 900.5],
    ],
  })
  assert.equal(resultOf(await dryRun(cells)).first, [
    { sku: 'A', price: 1200.5, cutShape: 'Round', carat: 1.234 },
    { sku: 'B', price: 900.5, cutShape: 'Round', carat: 0.71 },
  ])
})

test('reads a file by another program, with a title, formulas, formula errors, empty rows and a total', async ({
  dryRun,
}) => {
  const { first, err } = resultOf(
    await dryRun(readFileSync(new URL('files/xlsxwriter.xlsx', import.meta.url)), '--map', 'Remark='),
  )
  assert.equal(first, [
    { sku: '00071', price: 1200, isLabGrown: false, cutShape: 'Oval', carat: 0.71, color: 'G' },
    { sku: 'A-2', price: 1234, isLabGrown: true, cutShape: 'Pear', carat: 1.234, color: 'H' },
    { sku: 'A-3', isLabGrown: false, cutShape: 'Round', carat: 1.01, color: 'D' },
  ])
  assert.match(err, 'line 3 is the header')
  assert.match(err, 'line 8 is a total and is ignored')
  assert.match(err, 'other sheets, for --sheet: Notes')
})

test('reports lines by the row numbers of the spreadsheet program', async ({ dryRun }) => {
  const { code, err } = await dryRun(await workbook({ Stones: [HEADER, ['A', 'Round', 1], [], ['B', 'Round', -1]] }))
  assert.is(code, 1)
  assert.match(err, /line 4: carat must be/)
})

test('reads the first sheet, unless --sheet names another by name or number', async ({ dryRun }) => {
  const sheets = {
    Rounds: [HEADER, ['A', 'Round', 1]],
    2: [HEADER, ['B', 'Pear', 1]],
    Ovals: [HEADER, ['C', 'Oval', 1]],
  }
  const cells = await workbook(
    Object.fromEntries(['Rounds', 'Ovals', '2'].map((name) => [`${name}.`, sheets[name as 'Rounds']])),
  )
  const skus = async (...words: string[]) => resultOf(await dryRun(cells, ...words)).first.map(({ sku }) => sku)
  assert.equal(await skus(), ['A'])
  assert.equal(await skus('--sheet', 'Ovals.'), ['C'])
  assert.equal(await skus('--sheet', '3'), ['B'])
  const { code, err } = await dryRun(cells, '--sheet', 'Ovals')
  assert.is(code, 2)
  assert.match(err, /--sheet: .* has no sheet Ovals; the sheets are Rounds\., Ovals\., 2\./)
})

test('allows --sheet for workbooks only', async ({ dryRun }) => {
  const { code, err } = await dryRun('sku,cutShape,carat\nA,Round,1\n', '--sheet', 'Stones')
  assert.equal([code, err.includes('--sheet requires a workbook (.xlsx)')], [2, true])
})

test('refuses a ZIP archive that is no workbook or was truncated, in one line', async ({ dryRun }) => {
  const whole = await workbook({ Stones: [HEADER, ['A', 'Round', 1]] })
  for (const content of [Buffer.from('PK\u0003\u0004 and other bytes'), whole.subarray(0, whole.length / 2)]) {
    const { code, err } = await dryRun(content)
    assert.is(code, 1)
    assert.match(err, /is a ZIP archive, but not a readable workbook \(.*\); save it as \.xlsx or CSV/)
    assert.is(err.trim().split('\n').length, 1)
  }
})

test('refuses other binary files, and names their type', async ({ dryRun }) => {
  const whole = await workbook({ Stones: [HEADER, ['A', 'Round', 1]] })
  const packed = await dryRun(gzipSync(whole))
  assert.equal([packed.code, /is a compressed ZIP archive/.test(packed.err)], [1, true])
  const binary = await dryRun(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d]))
  assert.equal([binary.code, /is not a text file; open it in/.test(binary.err)], [1, true])
})

test('decompresses a gzip file, whatever its name', async ({ dryRun }) => {
  const { first } = resultOf(await dryRun(gzipSync('sku,cutShape,carat\nA,Round,1\n')))
  assert.equal(first, [{ sku: 'A', cutShape: 'Round', carat: 1 }])
})

test.run()
