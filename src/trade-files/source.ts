import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { columnsOf, parseColumnMapping, type HeaderRules, type ValueMapping } from './columns.ts'
import { UnclearFile, UnreadableFile, UnusableOption, type FileColumn, type Remark } from './errors.ts'
import type { DecimalSeparator } from './numbers.ts'
import { detectTextFileFormat, isZip } from './text-file-format.ts'
import { jsonEntries, type ImportEntry } from './lines.ts'
import { cannotParse, isZlibError, limitRows, limitTable, textTable, type SheetTable } from './rows.ts'
import { isStockList, openSpreadsheet, spreadsheetEntries, type SheetRules, type Spreadsheet } from './spreadsheet.ts'
import type { WorkbookRules } from './workbook.ts'

/** A parsed file; its entries can be read repeatedly. */
export type ImportSource = {
  /** Such as `utf-8, separated by commas`, or `sheet Stock`. */
  readonly format: string
  /** Without JSON lines, which have none. */
  readonly columns: readonly FileColumn[]
  /** The name of the sheet that is read; only of a workbook. */
  readonly sheet?: string
  /** What is read otherwise than a reader of the file may expect. */
  readonly remarks: readonly Remark[]
  /** SHA-256 of the file's bytes, in hex. */
  digest(): Promise<string>
  entries(): AsyncIterable<ImportEntry>
}

/** How the user wants a file to be read. */
export type ReadingOptions = {
  /** Fields or other contents by column; empty to ignore the column. */
  readonly map?: Readonly<Record<string, string>>
  readonly mapValue?: ValueMapping
  /** Decimal separator of all numbers; detected for each column by default. */
  readonly decimal?: DecimalSeparator
  /** Name or number of a workbook's sheet. */
  readonly sheet?: string
  /** Ignores unknown columns. */
  readonly ignoreUnknown?: true
  /** Reads hidden sheets, rows and columns. */
  readonly includeHidden?: true
  /** Reads lines that are not for sale. */
  readonly includeUnavailable?: true
}

type SourceRules = {
  /** Fields that must have a column; by default the required fields of a new diamond. */
  readonly required?: HeaderRules['required']
  /** Default: no limit. */
  readonly maxRows?: number
}

/**
 * Opens a workbook, a delimited text file or JSON lines; the latter two may be compressed with gzip.
 * @throws UnclearFile, UnreadableFile, UnusableOption, system errors
 */
export async function openSource(
  file: string,
  options: ReadingOptions,
  { required, maxRows = Infinity }: SourceRules = {},
): Promise<ImportSource> {
  const { map = {}, mapValue = {}, sheet, ignoreUnknown, ...rest } = options
  const unknown = ignoreUnknown === true ? 'ignored' : 'refused'
  const rules: SheetRules & WorkbookRules = {
    ...rest,
    unknown,
    mapping: parseColumnMapping(map),
    values: mapValue,
    ...(sheet !== undefined && { sheet }),
    ...(required && { required }),
  }
  if (isZip(file)) return sourceOf(file, await openWorkbookSheet(file, rules, maxRows))
  if (sheet !== undefined) throw new UnusableOption('sheet', undefined, 'requires a workbook (.xlsx)')
  const format = await detectTextFileFormat(file).catch((error: unknown) => {
    throw isZlibError(error) ? cannotParse(error) : error
  })
  if (!format.isJson) return sourceOf(file, await openSpreadsheet(limitTable(textTable(file, format), maxRows), rules))
  for (const [option, values] of Object.entries({ map, mapValue }) as ['map' | 'mapValue', object][])
    if (Object.keys(values).length > 0)
      throw new UnusableOption(option, undefined, 'requires a file with a header, not JSON lines')
  return {
    columns: [],
    format: `JSON lines with v4 fields (${format.encoding})`,
    remarks: [],
    digest: () => digestOf(file),
    entries: () => limitRows(jsonEntries(file, format, unknown), maxRows),
  }
}

/** @throws UnclearFile, UnreadableFile, with remarks on the workbook */
async function openWorkbookSheet(
  file: string,
  rules: SheetRules & WorkbookRules,
  maxRows: number,
): Promise<Spreadsheet> {
  const { openWorkbook } = await import('./workbook.ts')
  const isReadable = (table: SheetTable) => isStockList(limitTable(table), rules)
  const table = limitTable(await openWorkbook(file, rules, isReadable), maxRows)
  return openSpreadsheet(table, rules).catch((error: unknown) => {
    if (error instanceof UnclearFile || error instanceof UnreadableFile)
      error.remarks = [{ text: table.format }, ...(table.remarks ?? [])]
    throw error
  })
}

function sourceOf(file: string, sheet: Spreadsheet): ImportSource {
  const { header, table } = sheet
  const { remarks = [], ...properties } = table
  const commas = Object.entries(sheet.decimals).flatMap(([name, decimal]) => (decimal === ',' ? [name] : []))
  return {
    ...properties,
    format: commas.length === 0 ? table.format : `${table.format}, decimal comma in ${commas.join(' and ')}`,
    columns: columnsOf({ ...sheet, names: header }),
    remarks: [...remarks, ...describeIgnoredLines(sheet)],
    digest: () => digestOf(file),
    entries: () => spreadsheetEntries(sheet),
  }
}

const describeIgnoredLines = ({ headerLine, hasTitle, totalLines }: Spreadsheet): readonly Remark[] => [
  ...(hasTitle ? [{ text: `line ${headerLine} is the header; the lines above it are ignored` }] : []),
  ...[...totalLines].map((line) => ({ text: `line ${line} is a total and is ignored` })),
]

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}
