import { CsvError, parse } from 'csv-parse'
import { pipeline } from 'node:stream'
import type { NewDiamond } from '../../domain/diamond/fields.ts'
import { BadUsage, Failed } from '../failure.ts'
import { asInput, hasDecimalComma, type Comma } from './cells.ts'
import { readHeader, type Columns, type Mapping } from './columns.ts'
import { formOf, textOf, type Form } from './form.ts'
import { readNewDiamond } from '../../representations/diamond/read.ts'

/** One line below the header, read by the same rules as the API's input. */
export type Line =
  | { readonly line: number; readonly stone: NewDiamond }
  | { readonly line: number; readonly problems: readonly string[] }

type Row = { readonly record: readonly string[]; readonly info: { readonly lines: number } }

/** What is to be made of a file. */
export type Spreadsheet = {
  readonly file: string
  readonly form: Form
  readonly comma: Comma
  readonly header: readonly string[]
  readonly columns: Columns
}

/**
 * Looks at a spreadsheet: how it is written, and what its columns are.
 * @param file `.csv`, or `.csv.gz`
 * @throws BadUsage for a header that can't be used, Failed for a file that is no CSV, the system's error
 */
export async function openSpreadsheet(
  file: string,
  unknown: 'refused' | 'ignored',
  mapping: Mapping,
): Promise<Spreadsheet> {
  const form = await formOf(file).catch((error: unknown) => {
    throw isZlib(error) ? new Failed(`${file}: ${error.message}`) : error
  })
  const known = new Known(unknown, mapping)
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

  constructor(
    private readonly unknown: 'refused' | 'ignored',
    private readonly mapping: Mapping,
  ) {}

  /** @returns whether it is known how numbers are written: a weight with a point or a comma tells */
  saw(record: readonly string[]): boolean {
    if (this.columns === undefined) {
      this.header = record
      this.columns = readHeader(record, this.unknown, this.mapping)
      return false
    }
    const weight = record[this.columns.indexOf('carat')] ?? ''
    if (hasDecimalComma(weight)) this.comma = 'decimal'
    return /[.,]/.test(weight)
  }
}

/** Reads a spreadsheet line by line; nothing but the line at hand is kept in memory. @throws Failed, the system's error */
export async function* readSpreadsheet({ file, form, comma, columns }: Spreadsheet): AsyncGenerator<Line> {
  let isHeader = true
  for await (const { record, info } of rowsOf(file, form)) {
    if (!isHeader) yield readLine(columns, record, info.lines, comma)
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

function readLine(columns: Columns, record: readonly string[], line: number, comma: Comma): Line {
  if (record.length !== columns.length) {
    return { line, problems: [`has ${record.length} cells where the header has ${columns.length}`] }
  }
  const { value, faults } = readNewDiamond('v4', asInput(columns, record, comma), '')
  return value === undefined ? { line, problems: faults.map(({ message }) => message) } : { line, stone: value }
}

const isZlib = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')
