import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { ColumnContent } from './columns.ts'
import { UnclearFile, UnreadableFile } from './errors.ts'
import { isStored } from './line-properties.ts'
import { detectTextFileFormat, isZip } from './text-file-format.ts'
import { jsonEntries, type ImportEntry } from './lines.ts'
import { isZlibError, textTable } from './rows.ts'
import { isStockList, openSpreadsheet, spreadsheetEntries, type SheetRules, type Spreadsheet } from './spreadsheet.ts'
import type { WorkbookRules } from './workbook.ts'

/** A parsed file; its entries can be read repeatedly. */
export type ImportSource = {
  /** Fields by heading; null for a column that is not stored. */
  readonly mapping: Readonly<Record<string, string | null>>
  /** Format and mapping as text, for the operator to check. */
  readonly description: string
  /** SHA-256 of the file's bytes, in hex. */
  digest(): Promise<string>
  entries(): AsyncIterable<ImportEntry>
}

type SourceRules = SheetRules & WorkbookRules

/**
 * Opens a workbook, a delimited text file or JSON lines; the latter two may be compressed with gzip.
 * @throws UnclearFile for an invalid header, UnreadableFile for another kind of file, system errors
 */
export async function openSource(file: string, rules: SourceRules): Promise<ImportSource> {
  if (isZip(file)) return sourceOf(file, await openWorkbookSheet(file, rules))
  if (rules.sheet !== undefined) throw new UnclearFile('--sheet requires a workbook (.xlsx)')
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

/** @throws UnclearFile, UnreadableFile, which also name the workbook's other sheets and what is hidden */
async function openWorkbookSheet(file: string, rules: SourceRules): Promise<Spreadsheet> {
  const { openWorkbook } = await import('./workbook.ts')
  const table = await openWorkbook(file, rules, (other) => isStockList(other, rules))
  return openSpreadsheet(file, table, rules).catch((error: unknown) => {
    if (error instanceof UnclearFile || error instanceof UnreadableFile)
      error.message = [error.message, table.description, ...(table.remarks ?? [])].join('\n')
    throw error
  })
}

const sourceOf = (file: string, sheet: Spreadsheet): ImportSource => ({
  mapping: mappingOf(sheet),
  description: describeColumns(sheet),
  digest: () => digestOf(file),
  entries: () => spreadsheetEntries(sheet),
})

const mappingOf = ({ header, columns }: Spreadsheet): Record<string, string | null> =>
  Object.fromEntries(
    header.flatMap((heading, index) => {
      const content = columns[index]
      return heading === '' ? [] : [[heading, content === undefined || !isStored(content) ? null : content]]
    }),
  )

function describeColumn(heading: string, content: ColumnContent | undefined): string {
  if (content === undefined) return `${heading} (ignored)`
  if (!isStored(content)) return `${heading} (checked)`
  return heading === content ? heading : `${heading} = ${content}`
}

function describeColumns(sheet: Spreadsheet): string {
  const columns = sheet.header.flatMap((heading, index) =>
    heading === '' ? [] : [describeColumn(heading, sheet.columns[index])],
  )
  const commas = Object.entries(sheet.decimals).flatMap(([name, decimal]) => (decimal === ',' ? [name] : []))
  const comma = commas.length === 0 ? '' : `, decimal comma in ${commas.join(' and ')}`
  const lines = [`columns: ${columns.join(', ')} (${sheet.table.description}${comma})`]
  lines.push(...(sheet.table.remarks ?? []))
  if (sheet.hasTitle) lines.push(`line ${sheet.headerLine} is the header; the lines above it are ignored`)
  for (const line of sheet.totalLines) lines.push(`line ${line} is a total and is ignored`)
  return lines.join('\n')
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}
