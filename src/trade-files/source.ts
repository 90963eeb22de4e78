import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { UnclearFile, UnreadableFile } from './errors.ts'
import { detectTextFileFormat, isZip } from './text-file-format.ts'
import { jsonEntries, type ImportEntry } from './lines.ts'
import { cellText, isZlibError, textTable, type SheetCell, type SheetRow, type SheetTable } from './rows.ts'
import { openSpreadsheet, spreadsheetEntries, type SheetRules, type Spreadsheet } from './spreadsheet.ts'

/** A parsed file; its entries can be read repeatedly. */
export type ImportSource = {
  /** Fields by heading; null for an ignored column. */
  readonly mapping: Readonly<Record<string, string | null>>
  /** Format and mapping as text, for the operator to check. */
  readonly description: string
  /** SHA-256 of the file's bytes, in hex. */
  digest(): Promise<string>
  entries(): AsyncIterable<ImportEntry>
}

type SourceRules = SheetRules & {
  /** Sheet of a workbook: name, or number from 1. */
  readonly sheet?: string
}

/**
 * Opens a workbook, a delimited text file or JSON lines; the latter two may be compressed with gzip.
 * @throws UnclearFile for an invalid header, UnreadableFile for another kind of file, system errors
 */
export async function openSource(file: string, { sheet, ...rules }: SourceRules): Promise<ImportSource> {
  if (isZip(file)) return sourceOf(file, await openSpreadsheet(file, await openWorkbook(file, sheet), rules))
  if (sheet !== undefined) throw new UnclearFile('--sheet requires a workbook (.xlsx)')
  const format = await detectTextFileFormat(file).catch((error: unknown) => {
    throw isZlibError(error) ? new UnreadableFile(`${file}: ${error.message}`) : error
  })
  if (!format.isJson) return sourceOf(file, await openSpreadsheet(file, textTable(file, format), rules))
  if ((rules.mapping?.size ?? 0) > 0 || (rules.values?.length ?? 0) > 0)
    throw new UnclearFile('--map and --map-value require a file with a header, not JSON lines')
  return {
    mapping: {},
    description: `JSON lines with v4 fields (${format.encoding})`,
    digest: () => digestOf(file),
    entries: () => jsonEntries(file, format, rules.unknown),
  }
}

const sourceOf = (file: string, sheet: Spreadsheet): ImportSource => ({
  mapping: mappingOf(sheet),
  description: describeColumns(sheet),
  digest: () => digestOf(file),
  entries: () => spreadsheetEntries(sheet),
})

const mappingOf = ({ header, columns }: Spreadsheet): Record<string, string | null> =>
  Object.fromEntries(header.flatMap((heading, index) => (heading === '' ? [] : [[heading, columns[index] ?? null]])))

function describeColumns(sheet: Spreadsheet): string {
  const columns = Object.entries(mappingOf(sheet)).map(([heading, field]) =>
    field === null ? `${heading} (ignored)` : heading === field ? heading : `${heading} = ${field}`,
  )
  const commas = Object.entries(sheet.decimals).flatMap(([name, decimal]) => (decimal === ',' ? [name] : []))
  const comma = commas.length === 0 ? '' : `, decimal comma in ${commas.join(' and ')}`
  const lines = [`columns: ${columns.join(', ')} (${sheet.table.description}${comma})`]
  if (sheet.hasTitle) lines.push(`line ${sheet.headerLine} is the header; the lines above it are ignored`)
  for (const line of sheet.totalLines) lines.push(`line ${line} is a total and is ignored`)
  return lines.join('\n')
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}

/**
 * A sheet of a workbook (`.xlsx`), read into memory. Numbers and booleans are stored values, not formatted ones; dates become
 * `2026-05-01`; a formula becomes its last result, or empty if that is an error.
 * @param sheet name, or number from 1
 * @throws UnclearFile for an unknown sheet, UnreadableFile if the file is not a readable workbook
 */
async function openWorkbook(file: string, sheet = '1'): Promise<SheetTable> {
  const { default: readWorkbook } = await import('read-excel-file/node')
  const sheets = await readWorkbook(file).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error)
    throw new UnreadableFile(
      `${file} is a ZIP archive, but not a readable workbook (${reason}); save it as .xlsx or CSV`,
    )
  })
  const names = sheets.map((one) => one.sheet)
  const index = names.includes(sheet) ? names.indexOf(sheet) : Number(sheet) - 1
  const selectedSheet = sheets[index]
  if (selectedSheet === undefined)
    throw new UnclearFile(`--sheet: ${file} has no sheet ${sheet}; the sheets are ${names.join(', ')}`)
  const rows = selectedSheet.data.flatMap((cells, at): SheetRow[] => {
    const rowCells = cells.map(cellOf)
    return rowCells.every((cell) => cell === '') ? [] : [{ line: at + 1, cells: rowCells }]
  })
  const otherSheets = names.filter((_, at) => at !== index)
  const otherSheetsText = otherSheets.length === 0 ? '' : ` (other sheets, for --sheet: ${otherSheets.join(', ')})`
  return { description: `sheet ${selectedSheet.sheet}${otherSheetsText}`, rows: () => toAsyncIterable(rows) }
}

function cellOf(value: unknown): SheetCell {
  if (typeof value === 'number') return Number(value.toPrecision(DIGITS))
  if (value instanceof Date) return value.toISOString().slice(0, 'YYYY-MM-DD'.length)
  return value === null || value === undefined ? '' : cellText(String(value))
}

/** Significant digits of spreadsheet programs: 0.71000000000000008 is 0.71. */
const DIGITS = 15

async function* toAsyncIterable(rows: readonly SheetRow[]): AsyncGenerator<SheetRow> {
  yield* rows
}
