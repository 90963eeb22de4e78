import { CsvError, parse } from 'csv-parse'
import { pipeline } from 'node:stream'
import { visibleText } from '../../domain/visible-text.ts'
import { OperationFailure } from '../../maintenance/operation.ts'
import { textOf, type TextFileFormat } from './text-file-format.ts'

/**
 * What a spreadsheet program takes for a formula: it runs, and may send what is in other cells. Signs of full width count
 * as well (OWASP, CSV Injection).
 */
const FORMULA = /^'*[=+\-@＝＋－＠]/

/** A text of a cell with an apostrophe before it where it would be a formula, by which such programs take it for text. */
export const escapeFormula = (text: string): string => (FORMULA.test(text) ? `'${text}` : text)

/** A text of a cell without that apostrophe. */
const unescapeFormula = (cell: string): string => (cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell)

/** A cell as people see it; a number where the file says that it is one. */
export type SheetCell = string | number

/** A row of a spreadsheet: its cells, and the number of its (last) line in the file, from 1. */
export type SheetRow = { readonly line: number; readonly cells: readonly SheetCell[] }

/** The rows of a file that have anything in them, to be read as often as it takes. */
export type SheetTable = {
  /** How it is written, for a person: `utf-8, separated by commas`. */
  readonly description: string
  /** One after another. @throws Failed for a file that can't be read, the system's error */
  rows(): AsyncIterable<SheetRow>
}

type CsvRecord = { readonly record: readonly string[]; readonly info: { readonly lines: number } }

/** Every kind of line end, in one file too; the first that fits ends the line. */
const LINE_ENDS = ['\r\n', '\n', '\r']

/** A file of text as a table. A quote within a cell is a character like others. */
export const textTable = (file: string, form: TextFileFormat): SheetTable => ({
  description: `${form.encoding}, separated by ${SEPARATORS[form.delimiter]}`,
  rows: () => rowsOf(file, form),
})

const SEPARATORS: Readonly<Record<TextFileFormat['delimiter'], string>> = {
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
  '|': 'vertical bars',
}

async function* rowsOf(
  file: string,
  { encoding, delimiter, namesDelimiter }: TextFileFormat,
): AsyncGenerator<SheetRow> {
  const parser = parse({
    info: true,
    bom: true,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    record_delimiter: LINE_ENDS,
    delimiter,
  })
  // A failing stream fails the parser, and so the loop that reads it.
  pipeline(textOf(file, encoding), parser, (error: NodeJS.ErrnoException | null) => error && parser.destroy(error))
  let isToSkip = namesDelimiter
  try {
    for await (const { record, info } of parser as AsyncIterable<CsvRecord>) {
      const cells = record.map(cellText)
      if (!isToSkip && cells.some((cell) => cell !== '')) yield { line: info.lines, cells }
      isToSkip = false
    }
  } catch (error) {
    throw error instanceof CsvError || isZlibError(error) ? new OperationFailure(`${file}: ${error.message}`) : error
  }
}

/** `="00071"`, by which a spreadsheet program is kept from taking a text for a number. */
const AS_TEXT = /^="((?:[^"]|"")*)"$/

/** Ends of lines and tabs within a cell. */
const BREAKS = /[\t\n\v\f\r\u0085\u2028\u2029]+/g

/** What a cell says: without what spreadsheet programs write around it, on one line, as people see it. */
export function cellText(written: string): string {
  const cell = visibleText(written.replaceAll(BREAKS, ' '))
  const [, text] = AS_TEXT.exec(cell) ?? []
  return text === undefined ? unescapeFormula(cell) : visibleText(text.replaceAll('""', '"'))
}

/** A packed file that can't be unpacked. */
export const isZlibError = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')
