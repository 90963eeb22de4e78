import { BadUsage, Failed } from '../failure.ts'
import { cellText, type Cell, type Row, type Table } from './rows.ts'

/**
 * A sheet of a workbook (`.xlsx`), read whole. Numbers and booleans are what the cells hold, not how they are shown; dates
 * are `2026-05-01`; a formula is its last result, and nothing where that is an error.
 * @param sheet its name, or its number from 1; the first one unless told
 * @throws BadUsage for a sheet that is not there; Failed for a file that is no workbook
 */
export async function openWorkbook(file: string, sheet = '1'): Promise<Table> {
  const { default: readWorkbook } = await import('read-excel-file/node')
  const sheets = await readWorkbook(file).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error)
    throw new Failed(`${file} is a packed file, but no workbook that can be read (${why}); save it as .xlsx or CSV`)
  })
  const names = sheets.map((one) => one.sheet)
  const index = names.includes(sheet) ? names.indexOf(sheet) : Number(sheet) - 1
  const found = sheets[index]
  if (found === undefined) throw new BadUsage(`There is no sheet ${sheet} in ${file}; there are ${names.join(', ')}`)
  const rows = found.data.flatMap((cells, at): Row[] => {
    const read = cells.map(cellOf)
    return read.every((cell) => cell === '') ? [] : [{ line: at + 1, cells: read }]
  })
  const others = names.filter((_, at) => at !== index)
  const left = others.length === 0 ? '' : ` (--sheet reads ${others.join(', ')})`
  return { described: `the sheet ${found.sheet}${left}`, rows: () => iterated(rows) }
}

async function* iterated(rows: readonly Row[]): AsyncGenerator<Row> {
  yield* rows
}

/** Digits that a spreadsheet program keeps: 0.71000000000000008 is 0.71. */
const DIGITS = 15

function cellOf(value: unknown): Cell {
  if (typeof value === 'number') return Number(value.toPrecision(DIGITS))
  if (value instanceof Date) return value.toISOString().slice(0, 'YYYY-MM-DD'.length)
  return value === null || value === undefined ? '' : cellText(String(value))
}
