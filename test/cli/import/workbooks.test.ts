import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import { dryRunSuite, resultOf } from './dry-run.ts'
import { failed, formula, workbook } from './workbook-file.ts'

const test = dryRunSuite('an import of a workbook')

const badOf = (out: string) => (JSON.parse(out) as { bad: unknown }).bad

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
    await dryRun(
      readFileSync(new URL('files/xlsxwriter.xlsx', import.meta.url)),
      '--map',
      'Remark=',
      '--map-value',
      'Price:#DIV/0!=',
    ),
  )
  assert.equal(first, [
    { sku: '00071', price: 1200, isLabGrown: false, cutShape: 'Oval', carat: 0.71, color: 'G' },
    { sku: 'A-2', price: 1234, isLabGrown: true, cutShape: 'Pear', carat: 1.234, color: 'H' },
    { sku: 'A-3', isLabGrown: false, cutShape: 'Round', carat: 1.01, color: 'D' },
  ])
  assert.match(err, 'line 3 is the header')
  assert.match(err, 'line 8 is a total and is ignored')
  assert.match(err, 'other sheets: Notes (use --sheet to read another one)')
})

test('reads a file by openpyxl, with hidden parts, merged cells, an error and a formula without a result', async ({
  dryRun,
}) => {
  const { code, out, err } = await dryRun(readFileSync(new URL('files/openpyxl.xlsx', import.meta.url)))
  assert.is(code, 1)
  assert.equal(badOf(out), [
    {
      line: 3,
      problems: ['Price: the formula has no stored result; open the file in a spreadsheet program and save it'],
    },
    { line: 4, problems: ['Price: #N/A is the error of a formula, not a value'] },
    { line: 6, problems: ['Color and Price: the merged cells D6:F6 belong to several columns; split them'] },
  ])
  assert.match(err, 'hidden and left out: 1 sheet (Old); 1 column (E (Cost)) (use --include-hidden to read them)')
  assert.match(err, 'the value of merged cells counts for each of their rows: B2:B3')
  assert.match(err, '1 hidden line left out')
})

test('reports lines by the row numbers of the spreadsheet program', async ({ dryRun }) => {
  const { code, err } = await dryRun(await workbook({ Stones: [HEADER, ['A', 'Round', 1], [], ['B', 'Round', -1]] }))
  assert.is(code, 1)
  assert.match(err, /line 4: carat must be/)
})

test('asks for --sheet, by name or number, if several sheets are stock lists', async ({ dryRun }) => {
  const cells = await workbook({
    'Rounds.': [HEADER, ['A', 'Round', 1]],
    'Ovals.': [HEADER, ['C', 'Oval', 1]],
    '2.': [HEADER, ['B', 'Pear', 1]],
  })
  const skus = async (...words: string[]) => resultOf(await dryRun(cells, ...words)).first.map(({ sku }) => sku)
  assert.equal(await skus('--sheet', 'Ovals.'), ['C'])
  assert.equal(await skus('--sheet', '3'), ['B'])
  const question = await dryRun(cells)
  assert.is(question.code, 2)
  assert.match(question.err, 'Several sheets are stock lists: choose one of Rounds., Ovals., 2. with --sheet')
  const unknown = await dryRun(cells, '--sheet', 'Ovals')
  assert.is(unknown.code, 2)
  assert.match(unknown.err, /--sheet must be a sheet of the workbook, got Ovals; the sheets are Rounds\., Ovals\., 2\./)
})

test('finds the stock list behind a cover, an empty sheet and a sheet of choices', async ({ dryRun }) => {
  const otherSheets = {
    'a cover': [['Our stock list'], ['Call us']],
    'an empty sheet': [],
    'a sheet of choices': [
      ['Shape', 'Color'],
      ['Round', 'D'],
    ],
  }
  for (const [name, rows] of Object.entries(otherSheets)) {
    const { first, err } = resultOf(await dryRun(await workbook({ [name]: rows, Stock: [HEADER, ['A', 'Round', 1]] })))
    assert.equal(first, [{ sku: 'A', cutShape: 'Round', carat: 1 }])
    assert.match(err, `(sheet Stock)\nother sheets: ${name} (use --sheet`)
  }
})

test('names the sheets if none is a stock list', async ({ dryRun }) => {
  const { code, err } = await dryRun(
    await workbook({
      Cover: [['Our stock list']],
      Prices: [
        ['sku', 'price'],
        ['A', 1],
      ],
    }),
  )
  assert.is(code, 1)
  assert.match(err, /has no header .*\nsheet Cover\nother sheets: Prices \(use --sheet/)
})

test('reads the visible sheet, not a hidden one, unless --include-hidden', async ({ dryRun }) => {
  for (const state of ['hidden', 'veryHidden'] as const) {
    const cells = await workbook(
      { Old: { rows: [HEADER, ['OLD', 'Round', 1]], [state]: true }, Stock: [HEADER, ['NEW', 'Round', 1]] },
      { activeSheet: 1 },
    )
    const { first, err } = resultOf(await dryRun(cells))
    assert.equal(
      first.map(({ sku }) => sku),
      ['NEW'],
    )
    assert.match(err, 'hidden and left out: 1 sheet (Old) (use --include-hidden to read them)')
    assert.match((await dryRun(cells, '--include-hidden')).err, 'choose one of Old, Stock with --sheet')
    assert.equal(
      resultOf(await dryRun(cells, '--sheet', 'Old')).first.map(({ sku }) => sku),
      ['OLD'],
    )
  }
})

test('leaves hidden rows and columns out, and counts and names them, unless --include-hidden', async ({ dryRun }) => {
  const cells = await workbook({
    Stock: {
      rows: [
        [...HEADER, 'price', 'color'],
        ['A', 'Round', 1, 900, 'D'],
        ['B', 'Round', 1, 800, 'E'],
      ],
      columns: [{}, {}, {}, { hidden: true }, {}, { hidden: true }],
      rowDefs: new Map([
        [1, { hidden: true }],
        [7, { hidden: true }],
      ]),
    },
  })
  const visible = resultOf(await dryRun(cells))
  assert.equal(visible.first, [{ sku: 'B', cutShape: 'Round', carat: 1, color: 'E' }])
  assert.match(visible.err, 'hidden and left out: 1 column (D (price)) (use --include-hidden to read them)')
  assert.match(visible.err, '1 hidden line left out (use --include-hidden to read them)')
  const all = resultOf(await dryRun(cells, '--include-hidden'))
  assert.equal(
    all.first.map(({ sku, price }) => [sku, price]),
    [
      ['A', 900],
      ['B', 800],
    ],
  )
  assert.not.match(all.err, 'hidden')
})

test('reports a formula without a result and a formula error in a used column', async ({ dryRun }) => {
  const cells = await workbook({
    Stock: [
      [...HEADER, 'price', 'color', 'Comment'],
      ['A', 'Round', 1, failed('#N/A'), 'D', failed('#NAME?')],
      ['B', 'Round', failed('#VALUE!'), formula('C2*2'), 'E', formula('1+1')],
      ['C', 'Round', 1, formula('C2*2', 2000), formula('""', ''), ''],
    ],
  })
  const { code, out, err } = await dryRun(cells)
  assert.is(code, 1)
  assert.equal(badOf(out), [
    { line: 2, problems: ['price: #N/A is the error of a formula, not a value'] },
    {
      line: 3,
      problems: [
        'carat: #VALUE! is the error of a formula, not a value',
        'price: the formula has no stored result; open the file in a spreadsheet program and save it',
      ],
    },
  ])
  assert.match(err, "--map-value 'price:#N/A=VALUE'")
})

test('gives the value of vertically merged cells to each of their rows', async ({ dryRun }) => {
  const cells = await workbook({
    Stock: {
      rows: [
        ['Our stock', null, null, null],
        [...HEADER, 'color'],
        ['A', 'Round', 1, 'D'],
        ['B', null, 2, null],
        ['C', null, 3, 'F'],
        [null, null, null, null],
        ['Total', null, 6, null],
      ],
      merges: ['A1:D1', 'B3:B5', 'D3:D4', 'A7:B7'],
    },
  })
  const { first, err } = resultOf(await dryRun(cells))
  assert.equal(first, [
    { sku: 'A', cutShape: 'Round', carat: 1, color: 'D' },
    { sku: 'B', cutShape: 'Round', carat: 2, color: 'D' },
    { sku: 'C', cutShape: 'Round', carat: 3, color: 'F' },
  ])
  assert.match(err, 'the value of merged cells counts for each of their rows: B3:B5, D3:D4')
  assert.match(err, 'line 7 is a total')
})

test('reports cells that are merged across columns, by their range', async ({ dryRun }) => {
  const cells = await workbook({
    Stock: {
      rows: [
        [...HEADER, 'color', 'clarity'],
        ['A', 'Round', 1, 'D', null],
        ['B', 'Round', 1, 'D', 'IF'],
      ],
      merges: ['D2:E2'],
    },
  })
  const { code, err } = await dryRun(cells)
  assert.is(code, 1)
  assert.match(err, 'line 2: color and clarity: the merged cells D2:E2 belong to several columns; split them')
  assert.not.match(err, 'line 3:')
})

test('allows --sheet for workbooks only', async ({ dryRun }) => {
  const { code, err } = await dryRun('sku,cutShape,carat\nA,Round,1\n', '--sheet', 'Stones')
  assert.equal([code, err.includes('--sheet requires a workbook (.xlsx)')], [2, true])
})

test('refuses a workbook with overlapping merged cells', async ({ dryRun }) => {
  const rows = [HEADER, ['A', 'Round', 1]]
  const { code, err } = await dryRun(await workbook({ Stock: { rows, merges: ['A1:C2', 'A1:B2', 'B1:C2'] } }))
  assert.is(code, 1)
  assert.match(err, 'has merged cells A1:B2 that overlap with other merged cells')
})

test('refuses a damaged or truncated ZIP archive, in one line', async ({ dryRun }) => {
  const whole = await workbook({ Stones: [HEADER, ['A', 'Round', 1]] })
  for (const content of [Buffer.from('PK\u0003\u0004 and other bytes'), whole.subarray(0, whole.length / 2)]) {
    const { code, err } = await dryRun(content)
    assert.is(code, 1)
    assert.match(err, 'is damaged: End of central directory record signature not found')
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
