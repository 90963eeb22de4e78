import * as assert from 'uvu/assert'
import { dryRunSuite, resultOf } from './dry-run.ts'

const test = dryRunSuite('an imported spreadsheet')

const ROUND = { sku: 'A-1', cutShape: 'Round', carat: 0.71 }
const PEAR = { sku: 'A-2', cutShape: 'Pear', carat: 1.01 }

/** Content around the same two stones that is ignored. */
const AROUND: readonly (readonly [what: string, content: string])[] = [
  ['rows that are only separators', 'sku,cutShape,carat\nA-1,Round,0.71\n,,\nA-2,Pear,1.01\n,,\n,\n'],
  ['rows of blanks of all kinds', 'sku,cutShape,carat\nA-1,Round,0.71\n \u00a0,\u200b,\nA-2,Pear,1.01\n'],
  ['separators at the ends of rows', 'sku,cutShape,carat\nA-1,Round,0.71,\nA-2,Pear,1.01,,\n'],
  ['a last column without a heading', 'sku,cutShape,carat,\nA-1,Round,0.71,\nA-2,Pear,1.01,\n'],
  ['a column without a heading between others', 'sku,,cutShape,carat\nA-1,,Round,0.71\nA-2,,Pear,1.01\n'],
  ['sep=;', 'sep=;\r\nsku;cutShape;carat\r\nA-1;Round;0,71\r\nA-2;Pear;1,01\r\n'],
  ['"sep=|"', '"sep=|"\nsku|cutShape|carat\nA-1|Round|0.71\nA-2|Pear|1.01\n'],
  ['vertical bars', 'sku|cutShape|carat\nA-1|Round|0.71\nA-2|Pear|1.01\n'],
  ['tabs, and commas in a remark', 'sku\tcutShape\tcarat\tComment\nA-1\tRound\t0.71\ta, b, c\nA-2\tPear\t1.01\td\n'],
  [
    'a title',
    'Stock list of Some Vendor,,\nas of 25 Nov 2026,,\n,,\nsku,cutShape,carat\nA-1,Round,0.71\nA-2,Pear,1.01\n',
  ],
  ['a title of one cell', 'Stock list\n\nsku;cutShape;carat\nA-1;Round;0,71\nA-2;Pear;1,01\n'],
  ['quotes within a cell', 'sku,cutShape,carat,Comment\nA-1,Round,0.71,nice "eye clean" stone\nA-2,Pear,1.01,3"\n'],
  [
    'a quoted word at the start of a cell',
    'sku\tcutShape\tcarat\tComment\nA-1\tRound\t0.71\t"as new" ring\nA-2\tPear\t1.01\t\n',
  ],
  ['a line feed within a cell', 'sku,"cutShape",carat\nA-1,"Round\n",0.71\nA-2,"\nPear",1.01\n'],
  ['line ends of old Macs', 'sku,cutShape,carat\rA-1,Round,0.71\rA-2,Pear,1.01\r'],
  ['line ends of several systems', 'sku,cutShape,carat\r\nA-1,Round,0.71\nA-2,Pear,1.01\r'],
  ['two carriage returns before a line feed', 'sku,cutShape,carat\r\r\nA-1,Round,0.71\r\r\nA-2,Pear,1.01\r\r\n'],
  ['two byte order marks', '\ufeff\ufeffsku,cutShape,carat\nA-1,Round,0.71\nA-2,Pear,1.01\n'],
  ['invisible characters', 'sku\u200b,cut\u00adShape,carat\n\u200bA-1,Round\u2060,0.71\nA-2\ufeff,Pear,1.01\n'],
  [
    'no-break spaces',
    'Stock\u00a0#,Shape,Weight\nA-1,Round\u00a0Brilliant,0.71\u00a0ct\nA-2,\u00a0Pear,1.01\u202fct\n',
  ],
  ['cells that are forced to be text', 'sku,cutShape,carat\n"=""A-1""",Round,0.71\n="A-2",Pear,1.01\n'],
  ['guards against formulas', "sku,cutShape,carat,Comment\nA-1,Round,0.71,'=1+1\nA-2,Pear,1.01,'-\n"],
  ['a total with its word', 'Stock #,Shape,Weight\nA-1,Round,0.71\nA-2,Pear,1.01\nTotal,2 stones,1.72\n'],
  ['a total in the second column', 'Stock #,Shape,Weight\nA-1,Round,0.71\nA-2,Pear,1.01\n,Grand Total:,1.72\n'],
  ['a German total', 'sku;cutShape;carat\nA-1;Round;0,71\nA-2;Pear;1,01\nSumme;;1,72\n'],
  ['a count of stones', 'sku,cutShape,carat\nA-1,Round,0.71\nA-2,Pear,1.01\n2 pcs,,1.72\n'],
  ['subtotals between', 'sku,cutShape,carat\nA-1,Round,0.71\nSubtotal,,0.71\nA-2,Pear,1.01\nSubtotal,,1.01\n'],
  ['a last row of sums alone', 'sku,cutShape,carat\nA-1,Round,0.71\nA-2,Pear,1.01\n,,1.72\n'],
]
for (const [description, content] of AROUND) {
  test(`with ${description} is read correctly`, async ({ dryRun }) => {
    const { first, bad, would } = resultOf(await dryRun(content))
    assert.equal(first, [ROUND, PEAR])
    assert.equal([bad.length, would?.created], [0, 2])
  })
}

test('keeps leading zeros of cells that are forced to be text', async ({ dryRun }) => {
  const { first } = resultOf(await dryRun('sku,cutShape,carat\n"=""00071""",Round,0.71\n="00072",Round,0.71\n'))
  assert.equal(
    first.map(({ sku }) => sku),
    ['00071', '00072'],
  )
})

test('may contain stones whose sku is a word for a total', async ({ dryRun }) => {
  const { first, bad } = resultOf(await dryRun('sku,cutShape,carat\nTotal,Round,0.71\nSum-1,Pear,1.01\nPC,PC,1\n'))
  assert.equal([first.map(({ sku }) => sku), bad.length], [['Total', 'Sum-1', 'PC'], 0])
})

test('is reported with the line of its header and the lines that are totals', async ({ dryRun }) => {
  const { err } = resultOf(await dryRun('Stock list,,\n,,\nsku,cutShape,carat\nA-1,Round,0.71\nTotal,,0.71\n'))
  assert.match(err, /line 3 is the header; the lines above it are ignored/)
  assert.match(err, /line 5 is a total and is ignored/)
})

test('may contain the booleans that spreadsheet programs write in different languages', async ({ dryRun }) => {
  for (const [yes, no] of [
    ['Y', 'N'],
    ['TRUE', 'FALSE'],
    ['WAHR', 'FALSCH'],
    ['VRAI', 'FAUX'],
    ['VERDADERO', 'FALSO'],
    ['真', '假'],
  ]) {
    const { first } = resultOf(await dryRun(`sku,cutShape,carat,Lab Grown\nA,Round,1,${yes}\nB,Round,1,${no}\n`))
    assert.equal(
      first.map(({ isLabGrown }) => isLabGrown),
      [true, false],
      yes,
    )
  }
})

const REFUSED: readonly (readonly [what: string, content: string | Buffer, message: RegExp])[] = [
  [
    'a JSON array',
    '[\n {"sku": "A", "cutShape": "Round", "carat": 0.71}\n]\n',
    /is a JSON array; convert it to one object per line/,
  ],
  ['a web page', '<html><body><table><tr><td>sku</td></tr></table></body></html>', /is an HTML or XML file/],
  ['an old workbook', Buffer.from('d0cf11e0a1b11ae10000', 'hex'), /is an Excel 97-2003 workbook/],
  ['a PDF', '%PDF-1.4\n', /is a PDF/],
  [
    'a sentence',
    'You have no right to this list, it needs another subscription.\n',
    /has no header.*You have no right/,
  ],
  [
    'a cell below no heading',
    'sku,,cutShape,carat\nA-1,red,Round,0.71\n',
    /Column 2 has no heading, but contains red in line 2; use --map 'Column 2=' to ignore it/,
  ],
]
for (const [description, content, message] of REFUSED) {
  test(`that is or has ${description} is refused with one line that says so`, async ({ dryRun }) => {
    const { code, err } = await dryRun(content)
    assert.not.equal(code, 0)
    assert.match(err, message)
    assert.is(err.trim().split('\n').length, 1, err)
  })
}

test('is refused with all problems of its headings at once', async ({ dryRun }) => {
  const { code, err } = await dryRun('sku,carat,Carat,Wieght,Colour of box\nA-1,1,1,1,red\n')
  assert.is(code, 2)
  for (const message of [
    /Wieght is not a field of a v4 diamond/,
    /Colour of box is not a field of a v4 diamond/,
    /Several columns for carat/,
    /no column for cutShape/,
  ])
    assert.match(err, message)
})

test.run()
