import { readFile } from 'node:fs/promises'
import { colToLetter, rangeRef, readXlsx, type CellValue, type MergeRange, type Sheet, type Workbook } from 'hucre/xlsx'
import { listFirst, UnclearFile, UnreadableFile, UnusableOption } from './errors.ts'
import type { SheetRow, SheetTable } from './rows.ts'
import { cellOfText, displayedText, type SheetCell } from './sheet-cell.ts'

/** What of a workbook is read. */
export type WorkbookRules = {
  /** Name of a sheet, or its number from 1; by default the visible sheet that is a stock list. */
  readonly sheet?: string
  /** Whether hidden sheets, rows and columns are read. */
  readonly includeHidden?: boolean
}

/**
 * Reads a sheet of a workbook (`.xlsx`) into memory. Numbers and booleans are stored values, not formatted ones; dates become
 * `2026-05-01`; a formula becomes its last result. The value of vertically merged cells belongs to each of their rows.
 * @param isStockList chooses among the visible sheets; if none is a stock list, the active one is read
 * @throws UnclearFile if several visible sheets are stock lists, or all are hidden; UnusableOption for an unknown sheet;
 *   UnreadableFile if the file is not a readable workbook
 */
export async function openWorkbook(
  file: string,
  rules: WorkbookRules,
  isStockList: (table: SheetTable) => Promise<boolean>,
): Promise<SheetTable> {
  const { sheets, activeSheet = 0 } = await readWorkbook(file)
  if (rules.sheet !== undefined) return tableOf(findSheet(sheets, rules.sheet), sheets, rules)
  const readable = sheets
    .filter((sheet) => canRead(sheet, rules))
    .map((sheet) => ({ sheet, table: tableOf(sheet, sheets, rules) }))
  const stockLists: typeof readable = []
  for (const one of readable) if (await isStockList(one.table)) stockLists.push(one)
  if (stockLists.length > 1)
    throw askForSheet(
      'Several sheets are stock lists',
      stockLists.map(({ sheet }) => sheet),
    )
  const chosen = stockLists[0] ?? readable.find(({ sheet }) => sheet === sheets[activeSheet]) ?? readable[0]
  if (chosen === undefined) throw askForSheet('All sheets are hidden', sheets)
  return chosen.table
}

function askForSheet(reason: string, sheets: readonly Sheet[]): UnclearFile {
  const choices = namesOf(sheets)
  return new UnclearFile([{ kind: 'sheet', ask: `${reason}: choose one of ${choices.join(', ')}`, choices }])
}

async function readWorkbook(file: string): Promise<Workbook> {
  const content = await readFile(file)
  return readXlsx(content).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error)
    throw new UnreadableFile(`is a ZIP archive, but not a readable workbook (${reason}); save it as .xlsx or CSV`)
  })
}

const isHidden = ({ hidden, veryHidden }: Sheet): boolean => hidden === true || veryHidden === true

const canRead = (sheet: Sheet, { includeHidden = false }: WorkbookRules): boolean => includeHidden || !isHidden(sheet)

const namesOf = (sheets: readonly Sheet[]): readonly string[] => sheets.map(({ name }) => name)

/** @throws UnusableOption for a sheet that the workbook does not have */
function findSheet(sheets: readonly Sheet[], name: string): Sheet {
  const sheet = sheets.find((one) => one.name === name) ?? sheets[Number(name) - 1]
  if (sheet !== undefined) return sheet
  throw new UnusableOption(
    'sheet',
    undefined,
    `must be a sheet of the workbook, got ${name}; the sheets are ${namesOf(sheets).join(', ')}`,
  )
}

function tableOf(sheet: Sheet, sheets: readonly Sheet[], rules: WorkbookRules): SheetTable {
  const grid = sheet.rows.map((values, row) => values.map((value, column) => cellOf(sheet, value, row, column)))
  const lines = grid.flatMap((cells, row) => (cells.some((cell) => cell !== '') ? [row + 1] : []))
  const filledRanges = fillMergedCells(grid, sheet.merges ?? [])
  const hiddenColumns = rules.includeHidden === true ? [] : clearHiddenColumns(grid, sheet)
  const isHiddenLine = (line: number) => rules.includeHidden !== true && sheet.rowDefs?.get(line - 1)?.hidden === true
  const rows = lines.map((line): SheetRow => {
    const cells = grid[line - 1] ?? []
    return isHiddenLine(line) ? { line, cells, isHidden: true } : { line, cells }
  })
  const otherSheets = sheets.filter((other) => other !== sheet)
  const readableSheets = otherSheets.filter((other) => canRead(other, rules))
  const hidden = [
    describeHidden('sheet', namesOf(otherSheets.filter((other) => !canRead(other, rules)))),
    describeHidden('column', hiddenColumns),
  ].filter((text) => text !== '')
  return {
    format: `sheet ${sheet.name}`,
    sheet: sheet.name,
    remarks: [
      ...(readableSheets.length === 0
        ? []
        : [{ text: `other sheets: ${namesOf(readableSheets).join(', ')}`, option: 'sheet' as const }]),
      ...(hidden.length === 0
        ? []
        : [{ text: `hidden and left out: ${hidden.join('; ')}`, option: 'includeHidden' as const }]),
      ...(filledRanges.length === 0
        ? []
        : [{ text: `the value of merged cells counts for each of their rows: ${listFirst(filledRanges)}` }]),
    ],
    rows: () => toAsyncIterable(rows),
  }
}

function describeHidden(kind: string, names: readonly string[]): string {
  if (names.length === 0) return ''
  return `${names.length} ${kind}${names.length === 1 ? '' : 's'} (${listFirst(names)})`
}

const NO_RESULT = 'the formula has no stored result; open the file in a spreadsheet program and save it'

/** @param row and column from 0 */
function cellOf({ cells }: Sheet, value: CellValue, row: number, column: number): SheetCell {
  if (value === null) {
    const isFormula = cells?.get(`${row},${column}`)?.formula !== undefined
    return isFormula ? { text: '', problem: NO_RESULT } : ''
  }
  if (typeof value === 'number') return Number(value.toPrecision(DIGITS))
  if (value instanceof Date) {
    const text = value.toISOString().slice(0, 'YYYY-MM-DD'.length)
    return {
      text,
      problem: `${text} is a date; if it was not entered as one, format the column as text and enter it again`,
    }
  }
  return typeof value === 'string' ? cellOfText(value) : String(value)
}

/** Significant digits of spreadsheet programs: 0.71000000000000008 is 0.71. */
const DIGITS = 15

/**
 * Gives the value of vertically merged cells to each of their rows. Cells that are merged across columns have no usable value,
 * since it is unclear to which column it belongs.
 * @returns the ranges whose values were copied
 * @throws UnreadableFile if merged cells overlap
 */
function fillMergedCells(grid: SheetCell[][], merges: readonly MergeRange[]): readonly string[] {
  const filledRanges: string[] = []
  const cellCount = grid.reduce((count, cells) => count + cells.length, 0)
  let mergedCount = 0
  for (const { startRow, startCol, endRow, endCol } of merges) {
    const value = grid[startRow]?.[startCol]
    if (value === undefined) continue
    const range = rangeRef(startRow, startCol, endRow, endCol)
    if (startCol === endCol && value !== '') filledRanges.push(range)
    for (let row = startRow; row <= Math.min(endRow, grid.length - 1); row++) {
      const cells = grid[row] ?? []
      for (let column = startCol; column <= Math.min(endCol, cells.length - 1); column++) {
        // Also limits the time for a hostile file.
        if (++mergedCount > cellCount)
          throw new UnreadableFile(`has merged cells ${range} that overlap with other merged cells`)
        cells[column] =
          startCol === endCol
            ? value
            : {
                text: displayedText(cells[column] ?? ''),
                problem: `the merged cells ${range} belong to several columns; split them`,
              }
      }
    }
  }
  return filledRanges
}

/** @returns the names of the hidden columns with cells, such as `C (Cost)` */
function clearHiddenColumns(grid: readonly SheetCell[][], { columns = [] }: Sheet): readonly string[] {
  return columns.flatMap(({ hidden }, column) => {
    if (hidden !== true) return []
    const texts = grid.map((cells) => displayedText(cells[column] ?? '')).filter((text) => text !== '')
    for (const cells of grid) if (column < cells.length) cells[column] = ''
    return texts.length === 0 ? [] : [`${colToLetter(column)} (${texts[0]})`]
  })
}

async function* toAsyncIterable(rows: readonly SheetRow[]): AsyncGenerator<SheetRow> {
  yield* rows
}
