import { writeXlsx, type Cell, type CellValue, type MergeRange, type WriteSheet } from 'hucre/xlsx'

/** A cell with a formula, and the result that a spreadsheet program stored, if any. */
export const formula = (text: string, formulaResult?: CellValue): Partial<Cell> => ({
  type: 'formula',
  formula: text,
  ...(formulaResult !== undefined && { formulaResult }),
})

/** A cell whose formula has failed. */
export const failed = (value: string): Partial<Cell> => ({ type: 'error', value })

export type Row = readonly (CellValue | Partial<Cell>)[]
type SheetContent = Omit<WriteSheet, 'name' | 'rows' | 'merges'> & {
  readonly rows: readonly Row[]
  /** Such as `A2:A4`. */
  readonly merges?: readonly string[]
}

/** A workbook (`.xlsx`) with these sheets. */
export async function workbook(
  sheets: Readonly<Record<string, SheetContent | readonly Row[]>>,
  { activeSheet = 0 } = {},
): Promise<Buffer> {
  const contents = Object.entries(sheets).map(([name, content]) =>
    sheetOf(name, isRows(content) ? { rows: content } : content),
  )
  return Buffer.from(await writeXlsx({ sheets: contents, activeSheet }))
}

const isRows = (content: SheetContent | readonly Row[]): content is readonly Row[] => Array.isArray(content)

function sheetOf(name: string, { rows, merges = [], ...properties }: SheetContent): WriteSheet {
  const cells = rows.flatMap((row, at) =>
    row.flatMap((cell, column) => (isCell(cell) ? [[`${at},${column}`, cell] as const] : [])),
  )
  return {
    ...properties,
    name,
    rows: rows.map((row) => row.map((cell) => (isCell(cell) ? null : cell))),
    cells: new Map(cells),
    merges: merges.map(rangeOf),
  }
}

const isCell = (cell: CellValue | Partial<Cell>): cell is Partial<Cell> =>
  cell !== null && typeof cell === 'object' && !(cell instanceof Date)

/** The range of `A2:B4`, for columns up to Z. */
function rangeOf(text: string): MergeRange {
  const [startCol = 0, startRow = 0, endCol = 0, endRow = 0] = text
    .split(':')
    .flatMap((cell) => [cell.charCodeAt(0) - 'A'.charCodeAt(0), Number(cell.slice(1)) - 1])
  return { startCol, startRow, endCol, endRow }
}
