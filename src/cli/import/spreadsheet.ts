import { CsvError, parse } from 'csv-parse'
import { pipeline } from 'node:stream'
import { BadUsage, Failed } from '../failure.ts'
import { asInput, hasDecimalComma, type Comma } from './cells.ts'
import { readHeader, type Columns, type HeaderRules } from './columns.ts'
import { textOf, type Form } from './form.ts'
import type { Entry } from './lines.ts'

type Row = { readonly record: readonly string[]; readonly info: { readonly lines: number } }

/** What is to be made of a file with a header. */
export type Spreadsheet = {
  readonly file: string
  readonly form: Form
  readonly comma: Comma
  readonly header: readonly string[]
  readonly columns: Columns
}

/**
 * Looks at a spreadsheet: what its columns are, and how its numbers are written.
 * @throws BadUsage for a header that can't be used, Failed for a file that is no CSV, the system's error
 */
export async function openSpreadsheet(file: string, form: Form, rules: HeaderRules): Promise<Spreadsheet> {
  const known = new Known(rules)
  for await (const { record } of rowsOf(file, form)) if (known.saw(record)) break
  const { header, columns } = known
  if (columns === undefined) throw new BadUsage(`${file} is empty; its first line must name the columns`)
  return { file, form, comma: known.comma, header, columns }
}

/** What is known of a spreadsheet from its first lines. */
class Known {
  header: readonly string[] = []
  columns: Columns | undefined
  comma: Comma = 'thousands'

  constructor(private readonly rules: HeaderRules) {}

  /** @returns whether it is known how numbers are written: a weight with a point or a comma tells */
  saw(record: readonly string[]): boolean {
    if (this.columns === undefined) {
      this.header = record
      this.columns = readHeader(record, this.rules)
      return false
    }
    const weight = record[this.columns.indexOf('carat')] ?? ''
    if (hasDecimalComma(weight)) this.comma = 'decimal'
    return /[.,]/.test(weight)
  }
}

/** The entries of a spreadsheet, line by line. @throws Failed, the system's error */
export async function* spreadsheetEntries({ file, form, comma, columns }: Spreadsheet): AsyncGenerator<Entry> {
  let isHeader = true
  for await (const { record, info } of rowsOf(file, form)) {
    if (!isHeader) yield entryOf(columns, record, info.lines, comma)
    isHeader = false
  }
}

async function* rowsOf(file: string, { encoding, delimiter }: Form): AsyncGenerator<Row> {
  const parser = parse({ info: true, bom: true, relax_column_count: true, skip_empty_lines: true, delimiter })
  // A failing stream fails the parser, and so the loop that reads it.
  pipeline(textOf(file, encoding), parser, (error: NodeJS.ErrnoException | null) => error && parser.destroy(error))
  try {
    yield* parser as AsyncIterable<Row>
  } catch (error) {
    throw error instanceof CsvError || isZlib(error) ? new Failed(`${file}: ${error.message}`) : error
  }
}

function entryOf(columns: Columns, record: readonly string[], line: number, comma: Comma): Entry {
  if (record.length !== columns.length) {
    return { line, problems: [`has ${record.length} cells where the header has ${columns.length}`] }
  }
  return { line, input: asInput(columns, record, comma) }
}

/** A packed file that can't be unpacked. */
export const isZlib = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')
