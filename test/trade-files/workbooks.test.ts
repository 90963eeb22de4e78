import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { colToLetter } from 'hucre/xlsx'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import * as fc from '../fast-check.ts'
import { failed, formula, workbook, type Row } from '../cli/import/workbook-file.ts'
import { FIELDS, type DiamondFieldChanges, type FieldName } from '../../src/domain/diamond/fields.ts'
import { jsonWriterOf } from '../../src/representations/diamond/diamond-json.ts'
import { openSource } from '../../src/trade-files/source.ts'
import { NO_PDFS } from '../../src/trade-files/report-pdfs.ts'
import { readStockList } from '../../src/trade-files/stock-list.ts'

const test = suite<{ file: string }>('a random workbook')

test.before((context) => {
  context.file = join(mkdtempSync(join(tmpdir(), 'workbook-')), 'stones.xlsx')
})
test.after(({ file }) => rmSync(join(file, '..'), { recursive: true }))

/** Columns and their possible values, and a column that no field uses. */
const VALUES = {
  sku: undefined,
  cutShape: ['Round', 'Oval', 'Pear'],
  carat: [0.71, 1, 2.5],
  price: [900, 1234.5, 4000],
  color: ['D', 'G', 'J'],
  clarity: ['IF', 'VS1', 'SI2'],
  Comment: ['good', 'see report'],
} as const
const HEADINGS = Object.keys(VALUES) as (keyof typeof VALUES)[]
/** The first columns are required. */
const REQUIRED_COUNT = 3
const ROW_COUNT = 8

type Value = string | number
/** What a spreadsheet program displays as a cell, and how it is stored. */
type RandomCell = { readonly shown: Value; readonly kind: 'value' | 'formatted' | 'result' | 'no result' | 'error' }

const randomCell = (heading: keyof typeof VALUES, row: number): fc.Arbitrary<RandomCell> =>
  fc.record({
    shown: fc.constantFrom<Value>(...(VALUES[heading] ?? [`S-${row}`])),
    kind: fc.oneof(
      { weight: 8, arbitrary: fc.constant('value' as const) },
      { weight: 1, arbitrary: fc.constantFrom('formatted', 'result', 'no result', 'error') },
    ),
  })

const randomRow = (row: number) => fc.tuple(...HEADINGS.map((heading) => randomCell(heading, row)))

/** Merged cells below the header; row and column from 0. */
type Merge = { readonly row: number; readonly column: number; readonly height: number; readonly width: number }

const randomMerge: fc.Arbitrary<Merge> = fc
  .record({
    row: fc.nat(ROW_COUNT - 1),
    column: fc.nat(HEADINGS.length - 2),
    height: fc.integer({ min: 1, max: 3 }),
    width: fc.constantFrom(1, 1, 2),
  })
  .filter(({ row, height, width }) => height * width > 1 && row + height <= ROW_COUNT)

const rangeOf = ({ row, column, height, width }: Merge) =>
  `${colToLetter(column)}${row + 2}:${colToLetter(column + width - 1)}${row + height + 1}`

const covers = (merge: Merge, row: number, column: number) =>
  row >= merge.row && row < merge.row + merge.height && column >= merge.column && column < merge.column + merge.width

const randomSheet = fc.record({
  rows: fc.tuple(...Array.from({ length: ROW_COUNT }, (_, row) => randomRow(row))),
  merge: fc.option(randomMerge, { nil: undefined }),
  hiddenRows: fc.uniqueArray(fc.nat(ROW_COUNT - 1), { maxLength: 3 }),
  hiddenColumns: fc.uniqueArray(fc.integer({ min: REQUIRED_COUNT, max: HEADINGS.length - 1 }), { maxLength: 2 }),
})

function storedCell({ shown, kind }: RandomCell): Row[number] {
  switch (kind) {
    case 'value':
      return shown
    case 'formatted':
      return typeof shown === 'number' ? { value: shown, style: { numFmt: '#,##0.00" $"' } } : shown
    case 'result':
      return formula('A1', shown)
    case 'no result':
      return formula('A1')
    case 'error':
      return failed('#N/A')
  }
}

/** A stone's field as the API writes it. */
const writtenValue = (name: FieldName, value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(jsonWriterOf(FIELDS[name], 'v4')(value))

test('is stored as displayed, except for what the findings name', async ({ file }) => {
  await fc.assert(
    fc.asyncProperty(randomSheet, async ({ rows, merge, hiddenRows, hiddenColumns }) => {
      const sheet = {
        rows: [HEADINGS, ...rows.map((cells) => cells.map(storedCell))],
        merges: merge === undefined ? [] : [rangeOf(merge)],
        rowDefs: new Map(hiddenRows.map((row) => [row + 1, { hidden: true }])),
        columns: HEADINGS.map((_, column) => ({ hidden: hiddenColumns.includes(column) })),
      }
      writeFileSync(file, await workbook({ Stones: sheet }))
      const source = await openSource(file, { ignoreUnknown: true })
      const remarks = source.remarks.map(({ text }) => text).join('\n')
      const { findings, usableLines } = await readStockList(source, undefined, NO_PDFS)
      const stones = new Map<number, DiamondFieldChanges>()
      for await (const { line, change } of usableLines()) stones.set(line, change)
      const problems = new Map(findings.badLines.map((bad) => [bad.line, bad.problems]))

      assert.is(findings.hiddenCount, hiddenRows.length)
      for (const column of hiddenColumns) assert.match(remarks, `${colToLetter(column)} (${HEADINGS[column]})`)
      for (const [row, cells] of rows.entries()) {
        const namedColumns = (problems.get(row + 2) ?? []).flatMap(
          ({ message }) => message.split(': ', 1)[0]?.split(' and ') ?? [],
        )
        const unusableColumns: string[] = []
        for (const [column, heading] of HEADINGS.entries()) {
          if (heading === 'Comment' || hiddenColumns.includes(column) || hiddenRows.includes(row)) continue
          const isMerged = merge !== undefined && covers(merge, row, column)
          const { shown, kind } = (isMerged ? rows[merge.row]?.[merge.column] : cells[column]) ?? {
            shown: '',
            kind: 'value',
          }
          const stored = writtenValue(heading, stones.get(row + 2)?.set[heading])
          if (isMerged && merge.width > 1) unusableColumns.push(heading)
          else if (kind === 'error' || kind === 'no result') unusableColumns.push(heading)
          else if (!problems.has(row + 2)) assert.is(stored, shown)
          if (isMerged && merge.width === 1) assert.match(remarks, rangeOf(merge))
        }
        assert.equal(namedColumns.toSorted(), unusableColumns.toSorted())
      }
    }),
  )
})

test.run()
