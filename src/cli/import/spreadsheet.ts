import type { FieldName } from '../../domain/diamond/fields.ts'
import { parseShape } from '../../domain/dictionaries/shapes.ts'
import { BadUsage, Failed } from '../../maintenance/operation.ts'
import { asInput, isReadable } from './cells.ts'
import {
  headingsIn,
  readHeader,
  valuesBy,
  type Columns,
  type GivenValue,
  type HeaderRules,
  type ValueMap,
} from './columns.ts'
import type { Entry, Unread } from './lines.ts'
import { isAmount, NumberForms, type Amount, type Decimal, type Decimals } from './numbers.ts'
import type { Cell, Row, Table } from './rows.ts'

/** A sum of the rows above, in languages of the trade; in small letters. */
const TOTAL = [
  'total totals subtotal sub-total sum sums average avg grand count qty summe summen gesamt gesamtsumme',
  'zwischensumme insgesamt mittelwert anzahl somme totaux sous-total moyenne totale totali somma suma',
  'totaal som totalt итого всего сумма סהכ סה"כ 合计 合計 总计 小计 कुल',
].flatMap((words) => words.split(' '))

/** What is counted, or said beside a sum. */
const COUNTED = [
  'stone stones diamond diamonds piece pieces pc pcs item items row rows line lines stein steine stück',
  'stk diamanten pierre pierres diamants pièces piedras pietre шт ct cts carat carats karat usd eur',
  'price weight value of for all in',
].flatMap((words) => words.split(' '))

const KNOWN: ReadonlySet<string> = new Set([...TOTAL, ...COUNTED])

/** Words of a cell, without numbers and what is written around them; a quote within a word belongs to it. */
const wordsOf = (cell: string): readonly string[] => cell.toLowerCase().match(/\p{L}[\p{L}\p{M}"'-]*/gu) ?? []

/** Fields by which a row is known to be a stone's. */
const TELLING: readonly FieldName[] = ['sku', 'cutShape']

/**
 * Whether a row is no stone but a total of those above: its words are those of totals and counts alone (`Total`,
 * `2 stones`), and none of them is a cut shape.
 */
function isTotal(columns: Columns, cells: readonly string[]): boolean {
  const words = cells.flatMap(wordsOf)
  if (words.length === 0 || !words.every((word) => KNOWN.has(word))) return false
  return hasTotalOrCount(cells) && parseShape(cells[columns.indexOf('cutShape')] ?? '') === undefined
}

/** `Total`, or a number with what it counts. */
const hasTotalOrCount = (cells: readonly string[]): boolean =>
  cells.some((cell) => {
    const words = wordsOf(cell)
    const isCount = /^\d+\s+\D+$/.test(cell) && words.length > 0 && words.every((word) => COUNTED.includes(word))
    return isCount || words.some((word) => TOTAL.includes(word))
  })

/** Whether a row has numbers alone, and neither of the fields by which a stone is known: the last row may be a sum. */
function isNumbersAlone(columns: Columns, cells: readonly string[]): boolean {
  const named = cells.flatMap((cell, index) => (cell === '' ? [] : [columns[index]]))
  const hasAmount = named.some((name) => name !== undefined && isAmount(name))
  return hasAmount && named.every((name) => name === undefined || !TELLING.includes(name)) && cells.every(isNumeric)
}

const isNumeric = (cell: string): boolean => cell === '' || (/\d/.test(cell) && wordsOf(cell).length === 0)

/** What is to be made of a file with a header. */
export type Spreadsheet = {
  readonly table: Table
  readonly decimals: Decimals
  readonly header: readonly string[]
  readonly columns: Columns
  readonly values: ValueMap
  /** The line of the header. */
  readonly headerLine: number
  /** Whether other text stands above the header. */
  readonly hasTitle: boolean
  /** Lines that hold totals, and no stones. */
  readonly totals: ReadonlySet<number>
}

export type SheetRules = HeaderRules & {
  /** What stands before the fraction of every number; found out column by column unless told. */
  readonly decimal?: Decimal
  /** What texts of columns mean. */
  readonly values?: readonly GivenValue[]
}

/**
 * Reads a spreadsheet once: where its header is, what its columns are, how each of them writes its numbers, and which rows
 * are totals.
 * @throws BadUsage for a header that can't be used, for cells below no heading, and for numbers that can be read in two
 *   ways; Failed for a file that is no CSV; the system's error
 */
export async function openSpreadsheet(file: string, table: Table, rules: SheetRules): Promise<Spreadsheet> {
  const top = await topOf(file, table, rules)
  const columns = readHeader(top.header, rules, top.first)
  const values = valuesBy(top.header, rules.values ?? [])
  const amounts = columns.flatMap((name, index) =>
    name !== undefined && isAmount(name) ? [[index, name] as const] : [],
  )
  const forms = new NumberForms()
  const totals = new Set<number>()
  let last: Row | undefined
  let rows = 0
  for await (const row of table.rows()) {
    if (row.line <= top.headerLine) continue
    if (rules.unknown === 'refused') refuseUnnamed(top.header, row)
    rows++
    last = row
    if (isTotal(columns, texts(row))) totals.add(row.line)
    else sawNumbers(forms, amounts, row)
  }
  if (last !== undefined && rows > 1 && isNumbersAlone(columns, texts(last))) totals.add(last.line)
  return { table, ...top, columns, values, decimals: decimalsOf(amounts, forms, rules.decimal), totals }
}

const texts = ({ cells }: Row): readonly string[] => cells.map(String)

type Amounts = readonly (readonly [index: number, name: Amount])[]

/** Only texts count: in a workbook a cell may be a number already. */
function sawNumbers(forms: NumberForms, amounts: Amounts, { cells, line }: Row): void {
  for (const [index, name] of amounts) {
    const cell = cells[index] ?? ''
    if (typeof cell === 'string') forms.saw(name, cell, line)
  }
}

/** Rows among which a header is looked for: above it there may be a title, a date, an address. */
const TOP = 30
/** Known headings that make a row a header. */
const HEADINGS = 2
/** Rows below the header by which a column is known. */
const FIRST = 100

type Top = Pick<Spreadsheet, 'header' | 'headerLine' | 'hasTitle'> & { readonly first: readonly (readonly string[])[] }

/** The header: the first row with at least two known headings, else the first row. @throws BadUsage, Failed */
async function topOf(file: string, table: Table, rules: SheetRules): Promise<Top> {
  const rows: Row[] = []
  let at: number | undefined
  for await (const row of table.rows()) {
    if (at === undefined && rows.length < TOP && headingsIn(texts(row), rules) >= HEADINGS) at = rows.length
    rows.push(row)
    if (rows.length > (at ?? 0) + FIRST) break
  }
  const [first] = rows
  if (first === undefined) throw new BadUsage(`${file} is empty; its first line must name the columns`)
  if (at === undefined && rows.length === 1 && headingsIn(texts(first), rules) === 0) {
    const start = first.cells.join(' ').slice(0, 60)
    throw new Failed(`${file} has no header that names the columns of a spreadsheet; it begins with: ${start}`)
  }
  const header = rows[at ?? 0] ?? first
  const below = rows.slice((at ?? 0) + 1).map(texts)
  return { header: trimmed(texts(header)), headerLine: header.line, hasTitle: (at ?? 0) > 0, first: below }
}

/** Without the cells of separators at the end of a row. */
const trimmed = <One extends Cell>(cells: readonly One[]): readonly One[] =>
  cells.slice(0, cells.findLastIndex((cell) => cell !== '') + 1)

/** @throws BadUsage for a cell below no heading: nobody can tell what it is */
function refuseUnnamed(header: readonly string[], { line, cells }: Row): void {
  const index = cells.findIndex((cell, at) => cell !== '' && header[at] === '')
  if (index < 0) return
  throw new BadUsage(
    `Column ${index + 1} has no heading, and holds ${String(cells[index]).slice(0, 60)} in line ${line}`,
  )
}

function decimalsOf(amounts: Amounts, forms: NumberForms, told?: Decimal): Decimals {
  if (told === undefined) return forms.decided()
  return Object.fromEntries(amounts.map(([, name]) => [name, told])) as Decimals
}

/** The entries of a spreadsheet, line by line. @throws Failed, the system's error */
export async function* spreadsheetEntries(sheet: Spreadsheet): AsyncGenerator<Entry> {
  const { table, headerLine, totals } = sheet
  for await (const row of table.rows()) if (row.line > headerLine && !totals.has(row.line)) yield entryOf(sheet, row)
}

function entryOf(sheet: Spreadsheet, { line, cells }: Row): Entry {
  const { header, columns, decimals, values } = sheet
  const { length } = trimmed(cells)
  if (length > columns.length || cells.length < columns.length)
    return { line, problems: [`has ${cells.length} cells where the header has ${columns.length}`] }
  const { input, notes } = asInput({ columns, decimals, values }, cells)
  const unread = (field: string): Unread[] =>
    columns.flatMap((name, index) => {
      const text = String(cells[index] ?? '')
      const isUnread = name === field && text !== '' && !isReadable(name, text)
      return isUnread ? [{ column: header[index] ?? '', text }] : []
    })
  return { line, input, notes, unread }
}
