import { CsvError, parse } from 'csv-parse'
import { pipeline } from 'node:stream'
import { BadUsage, Failed } from '../failure.ts'
import { asInput } from './cells.ts'
import { readHeader, type Columns, type HeaderRules } from './columns.ts'
import { textOf, type Form } from './form.ts'
import type { Entry } from './lines.ts'
import { isAmount, NumberForms, type Amount, type Decimal, type Decimals } from './numbers.ts'

type Row = { readonly record: readonly string[]; readonly info: { readonly lines: number } }

/** What is to be made of a file with a header. */
export type Spreadsheet = {
  readonly file: string
  readonly form: Form
  readonly decimals: Decimals
  readonly header: readonly string[]
  readonly columns: Columns
}

export type SheetRules = HeaderRules & {
  /** What stands before the fraction of every number; found out column by column unless told. */
  readonly decimal?: Decimal
}

/**
 * Reads a spreadsheet once: what its columns are, and how each of them writes its numbers.
 * @throws BadUsage for a header that can't be used and for numbers that can be read in two ways, Failed for a file that is
 *   no CSV, the system's error
 */
export async function openSpreadsheet(file: string, form: Form, rules: SheetRules): Promise<Spreadsheet> {
  let header: readonly string[] = []
  let columns: Columns | undefined
  let amounts: readonly (readonly [index: number, name: Amount])[] = []
  const forms = new NumberForms()
  for await (const { record, info } of rowsOf(file, form)) {
    if (columns === undefined) {
      header = record
      columns = readHeader(record, rules)
      amounts = columns.flatMap((name, index) => (name !== undefined && isAmount(name) ? [[index, name] as const] : []))
    } else if (record.length === columns.length) {
      for (const [index, name] of amounts) forms.saw(name, record[index]?.trim() ?? '', info.lines)
    }
  }
  if (columns === undefined) throw new BadUsage(`${file} is empty; its first line must name the columns`)
  return { file, form, decimals: decimalsOf(amounts, forms, rules.decimal), header, columns }
}

function decimalsOf(amounts: readonly (readonly [number, Amount])[], forms: NumberForms, told?: Decimal): Decimals {
  if (told === undefined) return forms.decided()
  return Object.fromEntries(amounts.map(([, name]) => [name, told])) as Decimals
}

/** The entries of a spreadsheet, line by line. @throws Failed, the system's error */
export async function* spreadsheetEntries({ file, form, decimals, columns }: Spreadsheet): AsyncGenerator<Entry> {
  let isHeader = true
  for await (const { record, info } of rowsOf(file, form)) {
    if (!isHeader) yield entryOf(columns, record, info.lines, decimals)
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

function entryOf(columns: Columns, record: readonly string[], line: number, decimals: Decimals): Entry {
  if (record.length !== columns.length) {
    return { line, problems: [`has ${record.length} cells where the header has ${columns.length}`] }
  }
  return { line, input: asInput(columns, record, decimals) }
}

/** A packed file that can't be unpacked. */
export const isZlib = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')
