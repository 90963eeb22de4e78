import { parseShape } from '../domain/dictionaries/shapes.ts'
import { plainText } from '../domain/look-alikes.ts'
import { UnclearFile, UnreadableFile, type Question } from './errors.ts'
import { parseCells, isAcceptedValue } from './cells.ts'
import {
  askForMissingHeading,
  columnsOf,
  countKnownHeadings,
  hasRequiredColumns,
  isExportHeader,
  isMapped,
  readHeader,
  groupValueMappings,
  type ColumnContent,
  type ColumnMapping,
  type Columns,
  type ValueMapping,
  type HeaderRules,
  type ValueMap,
} from './columns.ts'
import { isLineProperty, type LineStatement } from './line-properties.ts'
import type { CellProblem, ImportEntry, InvalidCell } from './lines.ts'
import {
  isAmount,
  NumberFormatDetector,
  type AmountField,
  type DecimalSeparator,
  type DecimalSeparators,
} from './numbers.ts'
import { MEASUREMENTS } from './proportion-cells.ts'
import type { SheetRow, SheetTable } from './rows.ts'
import { displayedText, type SheetCell, type UnusableCell } from './sheet-cell.ts'

/** Words for a total or average, in languages of the trade, in lower case. */
const TOTAL_WORDS = [
  'total totals subtotal sub-total sum sums average avg grand count qty summe summen gesamt gesamtsumme',
  'zwischensumme insgesamt mittelwert anzahl somme totaux sous-total moyenne totale totali somma suma',
  'totaal som totalt итого всего сумма סהכ סה"כ 合计 合計 总计 小计 कुल',
].flatMap((words) => words.split(' '))

/** Words for what is counted, and other words of a total row. */
const COUNT_WORDS = [
  'stone stones diamond diamonds piece pieces pc pcs item items row rows line lines stein steine stück',
  'stk diamanten pierre pierres diamants pièces piedras pietre шт ct cts carat carats karat usd eur',
  'price weight value of for all in',
].flatMap((words) => words.split(' '))

const TOTAL_ROW_WORDS: ReadonlySet<string> = new Set([...TOTAL_WORDS, ...COUNT_WORDS])

/** Words of a cell, without numbers and punctuation; a quote within a word belongs to it. */
const wordsOf = (cell: string): readonly string[] => cell.toLowerCase().match(/\p{L}[\p{L}\p{M}"'-]*/gu) ?? []

/** Fields that identify a row as a stone. */
const IDENTIFYING_FIELDS: readonly ColumnContent[] = ['sku', 'cutShape']

/**
 * Whether a row is a total of the rows above: it contains only words for totals and counts (`Total`, `2 stones`) and no cut
 * shape.
 */
function isTotal(columns: Columns, cells: readonly string[]): boolean {
  const words = cells.flatMap(wordsOf)
  if (words.length === 0 || !words.every((word) => TOTAL_ROW_WORDS.has(word))) return false
  return hasTotalOrCount(cells) && parseShape(cells[columns.indexOf('cutShape')] ?? '') === undefined
}

/** A word such as `Total`, or a count such as `2 stones`. */
const hasTotalOrCount = (cells: readonly string[]): boolean =>
  cells.some((cell) => {
    const words = wordsOf(cell)
    const isCount = /^\d+\s+\D+$/.test(cell) && words.length > 0 && words.every((word) => COUNT_WORDS.includes(word))
    return isCount || words.some((word) => TOTAL_WORDS.includes(word))
  })

/** Whether a row has only numbers and no identifying field: as the last row it is a total. */
function isNumericRow(columns: Columns, cells: readonly string[]): boolean {
  const fields = cells.flatMap((cell, index) => (cell === '' ? [] : [columns[index]]))
  const hasAmount = fields.some((name) => name !== undefined && isAmount(name))
  return (
    hasAmount &&
    fields.every((name) => name === undefined || !IDENTIFYING_FIELDS.includes(name)) &&
    cells.every(isNumeric)
  )
}

const isNumeric = (cell: string): boolean => cell === '' || (/\d/.test(cell) && wordsOf(cell).length === 0)

/** How to read a file with a header. */
export type Spreadsheet = {
  readonly table: SheetTable
  readonly decimals: DecimalSeparators
  readonly header: readonly string[]
  /** The first rows below the header. */
  readonly sampleRows: readonly (readonly string[])[]
  /** Whether `adamant export` wrote the file. */
  readonly isExport: boolean
  readonly columns: Columns
  readonly values: ValueMap
  readonly headerLine: number
  /** Whether there are other lines above the header. */
  readonly hasTitle: boolean
  /** Lines with totals. */
  readonly totalLines: ReadonlySet<number>
}

export type SheetRules = HeaderRules & {
  /** Decimal separator of all numbers; detected per column by default. */
  readonly decimal?: DecimalSeparator
  /** Reads lines that are not for sale as stones. */
  readonly includeUnavailable?: true
  readonly values?: ValueMapping
}

/**
 * Reads a spreadsheet once to find its header, the fields and decimal separators of its columns, and the total rows.
 * @throws UnclearFile for an unclear header, cells without a heading and ambiguous numbers; UnreadableFile if the file cannot be
 *   parsed; UnusableOption, system errors
 */
export async function openSpreadsheet(table: SheetTable, rules: SheetRules): Promise<Spreadsheet> {
  const location = await findHeader(table, rules)
  const { names, columns: contents } = readHeader(location.header, rules, location.sampleRows)
  const columns = contents.map((content) =>
    content === 'availability' && rules.includeUnavailable === true ? undefined : content,
  )
  const values = groupValueMappings(names, rules.values ?? {})
  const amountColumns = columns.flatMap((name, index) =>
    name !== undefined && isAmount(name) ? [[index, name] as const] : [],
  )
  const detector = new NumberFormatDetector()
  const totalLines = new Set<number>()
  const unnamedColumns = new Map<number, Question>()
  let last: SheetRow | undefined
  let rows = 0
  for await (const row of table.rows()) {
    if (row.line <= location.headerLine || row.isHidden === true) continue
    if (rules.unknown === 'refused') findUnnamedColumns(names, row, rules.mapping ?? new Map(), unnamedColumns)
    rows++
    last = row
    if (isTotal(columns, texts(row))) totalLines.add(row.line)
    else addNumbers(detector, amountColumns, row)
  }
  if (last !== undefined && rows > 1 && isNumericRow(columns, texts(last))) totalLines.add(last.line)
  const { decimals, ambiguous } = decimalsOf(amountColumns, detector, rules.decimal)
  const questions = [
    ...unnamedColumns.values(),
    ...ambiguous.map(({ name, ask }): Question => ({
      kind: 'decimal separator',
      ask,
      column: names[columns.indexOf(name)] ?? name,
      choices: ['.', ','],
    })),
  ]
  if (questions.length > 0) throw new UnclearFile(questions, columnsOf({ ...location, names, columns }))
  return {
    table,
    ...location,
    header: names,
    isExport: isExportHeader(names),
    columns,
    values,
    decimals,
    totalLines,
  }
}

const texts = ({ cells }: SheetRow): readonly string[] => cells.map(displayedText)

type AmountColumns = readonly (readonly [index: number, name: AmountField])[]

/** Skips cells of a workbook that are numbers already. */
function addNumbers(detector: NumberFormatDetector, amountColumns: AmountColumns, { cells, line }: SheetRow): void {
  for (const [index, name] of amountColumns) {
    const cell = cells[index] ?? ''
    if (typeof cell === 'string') detector.add(name, plainText(cell), line)
  }
}

/** Rows that are searched for a header, as there may be a title, a date or an address above it. */
const HEADER_SEARCH_ROWS = 30
/** Known headings that make a row a header. */
const MIN_KNOWN_HEADINGS = 2
/** Rows below the header that are used to recognise columns. */
const SAMPLE_ROWS = 100

type HeaderLocation = Pick<Spreadsheet, 'header' | 'headerLine' | 'hasTitle' | 'sampleRows'>

/** Whether a table has a header with the required fields. */
export async function isStockList(table: SheetTable, rules: SheetRules): Promise<boolean> {
  return (await readFirstRows(table, rules)).isStockList
}

/**
 * The header: the first row with all required columns, since there may be a summary above it, else the first with at least two
 * known headings, else the first row. @throws UnreadableFile
 */
async function findHeader(table: SheetTable, rules: SheetRules): Promise<HeaderLocation> {
  const { headerIndex, rows } = await readFirstRows(table, rules)
  const [first] = rows
  if (first === undefined) throw new UnreadableFile('is empty; the first line must name the columns')
  if (headerIndex === undefined && rows.length === 1 && countKnownHeadings(texts(first), rules) === 0) {
    const start = texts(first).join(' ').slice(0, 60)
    throw new UnreadableFile(`has no header with names of columns; it starts with: ${start}`)
  }
  const header = rows[headerIndex ?? 0] ?? first
  return {
    header: trimTrailingCells(texts(header)),
    headerLine: header.line,
    hasTitle: (headerIndex ?? 0) > 0,
    sampleRows: samplesBelow(rows, headerIndex ?? 0),
  }
}

const samplesBelow = (rows: readonly SheetRow[], headerIndex: number): readonly (readonly string[])[] =>
  rows.slice(headerIndex + 1, headerIndex + 1 + SAMPLE_ROWS).map(texts)

type FirstRows = {
  readonly rows: readonly SheetRow[]
  readonly headerIndex: number | undefined
  /** Whether the header has all required columns. */
  readonly isStockList: boolean
}

/** The first visible rows, and which of them is the header. */
async function readFirstRows(table: SheetTable, rules: SheetRules): Promise<FirstRows> {
  const rows: SheetRow[] = []
  for await (const row of table.rows()) {
    if (row.isHidden !== true) rows.push(row)
    if (rows.length === HEADER_SEARCH_ROWS + SAMPLE_ROWS) break
  }
  const candidates = rows
    .slice(0, HEADER_SEARCH_ROWS)
    .map((row, index) => ({ index, headings: texts(row) }))
    .filter(({ headings }) => countKnownHeadings(headings, rules) >= MIN_KNOWN_HEADINGS)
  const complete = candidates.find(({ index, headings }) =>
    hasRequiredColumns(headings, rules, samplesBelow(rows, index)),
  )
  return { rows, headerIndex: (complete ?? candidates[0])?.index, isStockList: complete !== undefined }
}

/** Removes empty cells at the end of a row, which stem from trailing separators. */
const trimTrailingCells = <One extends SheetCell>(cells: readonly One[]): readonly One[] =>
  cells.slice(0, cells.findLastIndex((cell) => cell !== '') + 1)

/** Adds a question for the first cell in each column without a heading that the user has not mapped. */
function findUnnamedColumns(
  names: readonly string[],
  { line, cells }: SheetRow,
  mapping: ColumnMapping,
  questions: Map<number, Question>,
): void {
  for (const [index, cell] of cells.entries())
    if (cell !== '' && names[index] === '' && !questions.has(index) && !isMapped(mapping, index))
      questions.set(index, askForMissingHeading(index, displayedText(cell), line))
}

function decimalsOf(
  amountColumns: AmountColumns,
  detector: NumberFormatDetector,
  decimal?: DecimalSeparator,
): ReturnType<NumberFormatDetector['detect']> {
  if (decimal === undefined) return detector.detect()
  const decimals = Object.fromEntries(amountColumns.map(([, name]) => [name, decimal])) as DecimalSeparators
  return { decimals, ambiguous: [] }
}

/** @throws UnreadableFile, system errors */
export async function* spreadsheetEntries(sheet: Spreadsheet): AsyncGenerator<ImportEntry> {
  const { table, headerLine, totalLines } = sheet
  for await (const row of table.rows())
    if (row.line > headerLine && !totalLines.has(row.line)) yield entryOf(sheet, row)
}

function entryOf(sheet: Spreadsheet, { line, cells, isHidden }: SheetRow): ImportEntry {
  const { header, columns } = sheet
  const { length } = trimTrailingCells(cells)
  if (isHidden !== true && (length > columns.length || cells.length < columns.length))
    return { line, problems: [{ message: `has ${cells.length} cells, but the header has ${columns.length}` }] }
  const { input, notes, unusableCells, statements, report, plainSku } = parseCells(sheet, cells)
  const omittedSku = input['sku']
  if (isHidden === true) return { line, omittedSku }
  const textAt = (index: number) => displayedText(cells[index] ?? '')
  for (const [index, statement] of statements)
    if ('isAvailable' in statement) return { line, omittedSku, availability: textAt(index) }
  // Values of our own files are meant as written.
  const origin = originOf(sheet, textAt, sheet.isExport ? new Map() : statements, input['isLabGrown'])
  const findInvalidCells = (field: string): InvalidCell[] =>
    columns.flatMap((name, index) => {
      const isInvalid =
        name === field &&
        name !== MEASUREMENTS &&
        textAt(index) !== '' &&
        (unusableCells.has(index) || (!isLineProperty(name) && !isAcceptedValue(name, textAt(index))))
      return isInvalid ? [{ column: header[index] ?? '', text: textAt(index) }] : []
    })
  return {
    line,
    input: { ...input, ...origin.input },
    notes: [...notes, ...origin.notes],
    cellProblems: [...describeUnusableCells(sheet, unusableCells), ...origin.problems],
    findInvalidCells,
    headingOf: (field) => header[columns.findIndex((name) => name === field)],
    ...(report !== undefined && { report }),
    ...(plainSku !== undefined && { plainSku }),
  }
}

type Origin = {
  readonly input: { readonly isLabGrown?: boolean }
  readonly notes: readonly string[]
  readonly problems: readonly CellProblem[]
}

/**
 * The origin of a line's stone, from the column that is stored and from what other columns say of it, such as the treatment.
 * @param stored the value of the stored column, if any
 */
function originOf(
  { header, columns }: Spreadsheet,
  textAt: (index: number) => string,
  statements: ReadonlyMap<number, LineStatement>,
  stored: unknown,
): Origin {
  const storedIndex = columns.indexOf('isLabGrown')
  const said = [
    ...(typeof stored === 'boolean' ? [{ index: storedIndex, isLabGrown: stored }] : []),
    ...[...statements].flatMap(([index, { isLabGrown }]) => (isLabGrown === undefined ? [] : [{ index, isLabGrown }])),
  ]
  const describe = ({ index }: { readonly index: number }) => `${header[index]} ${textAt(index)}`
  const [labGrown, natural] = [said.find((one) => one.isLabGrown), said.find((one) => !one.isLabGrown)]
  if (labGrown !== undefined && natural !== undefined) {
    const message = `${describe(labGrown)} means laboratory-grown, but ${describe(natural)} means natural`
    return { input: {}, notes: [], problems: [{ fields: [], message }] }
  }
  const [first] = said
  if (first === undefined || first.index === storedIndex) return { input: {}, notes: [], problems: [] }
  // Report numbers differ, so a note with the number would be a note for each stone.
  const reason = columns[first.index] === 'certification.number' ? `${header[first.index]} LG...` : describe(first)
  const notes = first.isLabGrown ? [`${reason} is stored as laboratory-grown`] : []
  return { input: { isLabGrown: first.isLabGrown }, notes, problems: [] }
}

/** One problem for all cells with the same one, such as those of one merged cell. */
function describeUnusableCells(
  { header, columns }: Spreadsheet,
  cells: ReadonlyMap<number, UnusableCell>,
): CellProblem[] {
  return [...Map.groupBy(cells, ([, { problem }]) => problem)].map(([problem, group]) => ({
    fields: group.flatMap(([index]) => columns[index] ?? []),
    ...withColumn(header[group[0]?.[0] ?? -1]),
    message: `${group.map(([index]) => header[index]).join(' and ')}: ${problem}`,
  }))
}

const withColumn = (column: string | undefined) => (column === undefined ? {} : { column })
