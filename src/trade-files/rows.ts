import { CsvError, parse } from 'csv-parse'
import { pipeline } from 'node:stream'
import { visibleText } from '../domain/visible-text.ts'
import { UnreadableFile } from './errors.ts'
import { textOf, type TextFileFormat } from './text-file-format.ts'

/**
 * Texts that a spreadsheet program executes as a formula, which could leak other cells, including full-width signs.
 * Source: OWASP, CSV Injection.
 */
const FORMULA = /^'*[=+\-@＝＋－＠]/

/** Prefixes a formula with an apostrophe, so that spreadsheet programs treat it as text. */
export const escapeFormula = (text: string): string => (FORMULA.test(text) ? `'${text}` : text)

const unescapeFormula = (cell: string): string => (cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell)

/** A cell without a usable value: the text that it displays, and why it is none. */
export type UnusableCell = { readonly text: string; readonly problem: string }

/** A cell as displayed; a number if the file stores it as one. */
export type SheetCell = string | number | UnusableCell

/** The text that a cell displays. */
export const displayedText = (cell: SheetCell): string => (typeof cell === 'object' ? cell.text : String(cell))

/** `line` is the number of the row's last line in the file, from 1. A hidden row is no stone. */
export type SheetRow = { readonly line: number; readonly cells: readonly SheetCell[]; readonly isHidden?: true }

/** The non-empty rows of a file; they can be read repeatedly. */
export type SheetTable = {
  /** Format of the file, such as `utf-8, separated by commas`. */
  readonly description: string
  /** What is not read as in a plain table, one line each. */
  readonly remarks?: readonly string[]
  /** @throws UnreadableFile if the file cannot be parsed, system errors */
  rows(): AsyncIterable<SheetRow>
}

type CsvRecord = { readonly record: readonly string[]; readonly info: { readonly lines: number } }

/** Different line endings may be mixed in a file; the first match applies. */
const LINE_ENDS = ['\r\n', '\n', '\r']

/** A delimited text file as a table. A quote inside an unquoted cell is an ordinary character. */
export const textTable = (file: string, format: TextFileFormat): SheetTable => ({
  description: `${format.encoding}, separated by ${SEPARATORS[format.delimiter]}`,
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
  })
  // A stream error destroys the parser, so that the loop below throws it.
  pipeline(textOf(file, encoding), parser, (error: NodeJS.ErrnoException | null) => error && parser.destroy(error))
  let isDelimiterLine = hasDelimiterLine
  try {
    for await (const { record, info } of parser as AsyncIterable<CsvRecord>) {
      const cells = record.map(textCell)
      if (!isDelimiterLine && cells.some((cell) => cell !== '')) yield { line: info.lines, cells }
      isDelimiterLine = false
    }
  } catch (error) {
    throw error instanceof CsvError || isZlibError(error) ? new UnreadableFile(`${file}: ${error.message}`) : error
  }
}

/** `="00071"`: prevents a spreadsheet program from converting a text to a number. */
const AS_TEXT = /^="((?:[^"]|"")*)"$/

/** Line breaks and tabs within a cell. */
const BREAKS = /[\t\n\v\f\r\u0085\u2028\u2029]+/g

/** A text as a cell, which has no usable value if it is an error of a spreadsheet program. */
export function textCell(rawText: string): SheetCell {
  const text = textOfCell(rawText)
  if (ERROR_VALUE.test(text)) return { text, problem: `${text} is the error of a formula, not a value` }
  return OVERFLOW.test(text)
    ? { text, problem: `${text} is what a column shows that is too narrow for its value` }
    : text
}

/**
 * Errors of formulas, such as `#N/A`, `#REF!` and `#DIV/0!`, also as localised programs write them (`#NV`, `#¡REF!`, `#Н/Д`).
 * Source: the error values in the documentation of Excel, Google Sheets and LibreOffice Calc (`Err:502`).
 */
const ERROR_VALUE =
  /^(?:#[¡¿]?[\p{L}/_]{2,}0?[!?]|#(?:[NН]\/[ABDTД]|NV|I\/T|YOK|HIÁNYZIK|BUSY|GETTING_DATA)|Err ?:5\d\d)$/iu

/** `####` */
const OVERFLOW = /^#{2,}$/

/** The visible text of a cell on one line, without the escapes of spreadsheet programs. */
function textOfCell(rawText: string): string {
  const cell = visibleText(rawText.replaceAll(BREAKS, ' '))
  const [, text] = AS_TEXT.exec(cell) ?? []
  return text === undefined ? unescapeFormula(cell) : visibleText(text.replaceAll('""', '"'))
}

/** Whether a compressed file could not be decompressed. */
export const isZlibError = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')
