import { CsvError, parse } from 'csv-parse'
import { pipeline } from 'node:stream'
import { UnreadableFile, type Remark } from './errors.ts'
import { cellOfText, type SheetCell } from './sheet-cell.ts'
import { textOf, type TextFileFormat } from './text-file-format.ts'

/** `line` is the number of the row's last line in the file, from 1. A hidden row is no stone. */
export type SheetRow = { readonly line: number; readonly cells: readonly SheetCell[]; readonly isHidden?: true }

/** The non-empty rows of a file; they can be read repeatedly. */
export type SheetTable = {
  /** Format of the file, such as `utf-8, separated by commas`, or `sheet Stock`. */
  readonly format: string
  /** The sheet's name, in a workbook. */
  readonly sheet?: string
  /** What a reader of the file may not expect: hidden parts that are left out, merged cells. */
  readonly remarks?: readonly Remark[]
  /** @throws UnreadableFile if the file cannot be parsed, system errors */
  rows(): AsyncIterable<SheetRow>
}

/** Cells of a line. Trade files have up to a hundred. */
const MAX_CELLS = 1_000

/** Longer records, such as those after a quote that is never closed, end the reading. */
const MAX_RECORD_BYTES = 2 ** 20

/** The table with limits. */
export const limitTable = (table: SheetTable, maxRows = Infinity): SheetTable => ({
  ...table,
  async *rows() {
    for await (const row of limitRows(table.rows(), maxRows)) {
      if (row.cells.length > MAX_CELLS)
        throw new UnreadableFile(`has ${row.cells.length} cells in line ${row.line}; it may have ${MAX_CELLS}`)
      yield row
    }
  },
})

/** @throws UnreadableFile */
export async function* limitRows<Row>(rows: AsyncIterable<Row>, maxRows: number): AsyncGenerator<Row> {
  let count = 0
  for await (const row of rows) {
    if (++count > maxRows) throw new UnreadableFile(`has more than ${maxRows.toLocaleString('en')} lines; divide it`)
    yield row
  }
}

type CsvRecord = { readonly record: readonly string[]; readonly info: { readonly lines: number } }

/** Different line endings may be mixed in a file; the first match applies. */
const LINE_ENDS = ['\r\n', '\n', '\r']

/** A delimited text file as a table. A quote inside an unquoted cell is an ordinary character. */
export const textTable = (file: string, format: TextFileFormat): SheetTable => ({
  format: `${format.encoding}, separated by ${SEPARATORS[format.delimiter]}`,
  rows: () => rowsOf(file, format),
})

const SEPARATORS: Readonly<Record<TextFileFormat['delimiter'], string>> = {
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
  '|': 'vertical bars',
}

async function* rowsOf(
  file: string,
  { encoding, delimiter, hasDelimiterLine }: TextFileFormat,
): AsyncGenerator<SheetRow> {
  const parser = parse({
    info: true,
    bom: true,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    record_delimiter: LINE_ENDS,
    delimiter,
    max_record_size: MAX_RECORD_BYTES,
  })
  // A stream error destroys the parser, so that the loop below throws it.
  pipeline(textOf(file, encoding), parser, (error: NodeJS.ErrnoException | null) => error && parser.destroy(error))
  let isDelimiterLine = hasDelimiterLine
  try {
    for await (const { record, info } of parser as AsyncIterable<CsvRecord>) {
      const cells = record.map(cellOfText)
      if (!isDelimiterLine && cells.some((cell) => cell !== '')) yield { line: info.lines, cells }
      isDelimiterLine = false
    }
  } catch (error) {
    throw error instanceof CsvError || isZlibError(error) ? cannotParse(error) : error
  }
}

/** Whether a compressed file could not be decompressed. */
export const isZlibError = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')

export const cannotParse = ({ message }: Error): UnreadableFile => new UnreadableFile(`cannot be read: ${message}`)
