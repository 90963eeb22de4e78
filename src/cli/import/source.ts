import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { BadUsage, OperationFailure } from '../../maintenance/operation.ts'
import { detectTextFileFormat, isZip } from './text-file-format.ts'
import { jsonEntries, type ImportEntry } from './lines.ts'
import { cellText, isZlibError, textTable, type SheetCell, type SheetRow, type SheetTable } from './rows.ts'
import { openSpreadsheet, spreadsheetEntries, type SheetRules, type Spreadsheet } from './spreadsheet.ts'

/**
 * A sheet of a workbook (`.xlsx`), read whole. Numbers and booleans are what the cells hold, not how they are shown; dates
 * are `2026-05-01`; a formula is its last result, and nothing where that is an error.
 * @param sheet its name, or its number from 1; the first one unless told
 * @throws BadUsage for a sheet that is not there; Failed for a file that is no workbook
 */
async function openWorkbook(file: string, sheet = '1'): Promise<SheetTable> {
  const { default: readWorkbook } = await import('read-excel-file/node')
  const sheets = await readWorkbook(file).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error)
    throw new OperationFailure(
      `${file} is a packed file, but no workbook that can be read (${why}); save it as .xlsx or CSV`,
    )
  })
  const names = sheets.map((one) => one.sheet)
  const index = names.includes(sheet) ? names.indexOf(sheet) : Number(sheet) - 1
  const found = sheets[index]
  if (found === undefined) throw new BadUsage(`There is no sheet ${sheet} in ${file}; there are ${names.join(', ')}`)
  const rows = found.data.flatMap((cells, at): SheetRow[] => {
    const read = cells.map(cellOf)
    return read.every((cell) => cell === '') ? [] : [{ line: at + 1, cells: read }]
  })
  const others = names.filter((_, at) => at !== index)
  const left = others.length === 0 ? '' : ` (--sheet reads ${others.join(', ')})`
  return { description: `the sheet ${found.sheet}${left}`, rows: () => toAsyncIterable(rows) }
}

async function* toAsyncIterable(rows: readonly SheetRow[]): AsyncGenerator<SheetRow> {
  yield* rows
}

/** Digits that a spreadsheet program keeps: 0.71000000000000008 is 0.71. */
const DIGITS = 15

function cellOf(value: unknown): SheetCell {
  if (typeof value === 'number') return Number(value.toPrecision(DIGITS))
  if (value instanceof Date) return value.toISOString().slice(0, 'YYYY-MM-DD'.length)
  return value === null || value === undefined ? '' : cellText(String(value))
}

/** A file of stones as it is understood, to be read as often as it takes. */
export type ImportSource = {
  /** Each column with the field that it is; null for one that is left out. */
  readonly mapping: Readonly<Record<string, string | null>>
  /** The same for a person to check. */
  readonly description: string
  /** SHA-256 of its bytes as they lie there, in hex. */
  digest(): Promise<string>
  entries(): AsyncIterable<ImportEntry>
}

/** How a file is read that is given on the command line. */
export type SourceRules = SheetRules & {
  /** The sheet of a workbook, by its name or its number from 1. */
  readonly sheet?: string
}

/**
 * Looks at a file: a workbook, a spreadsheet saved as text, or JSON lines; the latter two may be packed by gzip.
 * @throws BadUsage for a header that can't be used, Failed for a file that can't be read as any of them, the system's error
 */
export async function openSource(file: string, { sheet, ...rules }: SourceRules): Promise<ImportSource> {
  if (isZip(file)) return sourceOf(file, await openSpreadsheet(file, await openWorkbook(file, sheet), rules))
  if (sheet !== undefined) throw new BadUsage('--sheet is for workbooks (.xlsx)')
  const form = await detectTextFileFormat(file).catch((error: unknown) => {
    throw isZlibError(error) ? new OperationFailure(`${file}: ${error.message}`) : error
  })
  if (!form.isJson) return sourceOf(file, await openSpreadsheet(file, textTable(file, form), rules))
  if ((rules.mapping?.size ?? 0) > 0 || (rules.values?.length ?? 0) > 0)
    throw new BadUsage('--map and --map-value are for the columns of a header')
  return {
    mapping: {},
    description: `lines of JSON with the members of a v4 diamond (${form.encoding})`,
    digest: () => digestOf(file),
    entries: () => jsonEntries(file, form, rules.unknown),
  }
}

const sourceOf = (file: string, sheet: Spreadsheet): ImportSource => ({
  mapping: mappingOf(sheet),
  description: describeColumns(sheet),
  digest: () => digestOf(file),
  entries: () => spreadsheetEntries(sheet),
})

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}

const mappingOf = ({ header, columns }: Spreadsheet): Record<string, string | null> =>
  Object.fromEntries(header.flatMap((heading, index) => (heading === '' ? [] : [[heading, columns[index] ?? null]])))

/** What a person checks before anything is written. */
function describeColumns(sheet: Spreadsheet): string {
  const columns = Object.entries(mappingOf(sheet)).map(([heading, field]) =>
    field === null ? `${heading} is left out` : heading === field ? heading : `${heading} is ${field}`,
  )
  const commas = Object.entries(sheet.decimals).flatMap(([name, decimal]) => (decimal === ',' ? [name] : []))
  const comma = commas.length === 0 ? '' : `, decimal comma in ${commas.join(' and ')}`
  const lines = [`columns: ${columns.join(', ')} (${sheet.table.description}${comma})`]
  if (sheet.hasTitle) lines.push(`line ${sheet.headerLine} is the header; what is above it is left out`)
  for (const line of sheet.totals) lines.push(`line ${line} is a total, and no stone`)
  return lines.join('\n')
}

/** A file is read several times: stdin (`-`) is kept in one while it is worked with. */
export async function withFile<Result>(given: string, work: (file: string) => Promise<Result>): Promise<Result> {
  if (given !== '-') return work(given)
  const folder = await mkdtemp(join(tmpdir(), 'adamant-import-'))
  try {
    const file = join(folder, 'stdin')
    await pipeline(process.stdin, createWriteStream(file, { mode: 0o600 }))
    return await work(file)
  } finally {
    await rm(folder, { recursive: true })
  }
}
