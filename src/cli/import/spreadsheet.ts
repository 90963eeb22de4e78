import { CsvError, parse } from 'csv-parse'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { NewDiamond } from '../../domain/diamond/fields.ts'
import { BadUsage, Failed } from '../failure.ts'
import { asInput } from './cells.ts'
import { readHeader, type Columns } from './columns.ts'
import { readNewDiamond } from '../../representations/diamond/read.ts'

/** One line below the header, read by the same rules as the API's input. */
export type Line =
  | { readonly line: number; readonly stone: NewDiamond }
  | { readonly line: number; readonly problems: readonly string[] }

type Row = { readonly record: readonly string[]; readonly info: { readonly lines: number } }

/**
 * Reads a spreadsheet line by line; nothing but the line at hand is kept in memory.
 * @param file `.csv`, or `.csv.gz`
 * @throws BadUsage for a header that can't be used, Failed for a file that is no CSV, the system's error
 */
export async function* readSpreadsheet(file: string, unknown: 'refused' | 'ignored'): AsyncGenerator<Line> {
  let columns: Columns | undefined
  try {
    for await (const { record, info } of rowsOf(file)) {
      if (columns === undefined) columns = readHeader(record, unknown)
      else yield readLine(columns, record, info.lines)
    }
  } catch (error) {
    throw error instanceof CsvError || isZlib(error) ? new Failed(`${file}: ${error.message}`) : error
  }
  if (columns === undefined) throw new BadUsage(`${file} is empty; its first line must name the columns`)
}

function rowsOf(file: string): AsyncIterable<Row> {
  const parser = parse({ info: true, bom: true, relax_column_count: true, skip_empty_lines: true })
  // A failing stream fails the parser, and so the loop that reads it.
  const ended = (error: NodeJS.ErrnoException | null) => error && parser.destroy(error)
  if (file.toLowerCase().endsWith('.gz')) pipeline(createReadStream(file), createGunzip(), parser, ended)
  else pipeline(createReadStream(file), parser, ended)
  return parser
}

function readLine(columns: Columns, record: readonly string[], line: number): Line {
  if (record.length !== columns.length) {
    return { line, problems: [`has ${record.length} cells where the header has ${columns.length}`] }
  }
  const { value, faults } = readNewDiamond('v4', asInput(columns, record), '')
  return value === undefined ? { line, problems: faults.map(({ message }) => message) } : { line, stone: value }
}

const isZlib = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')
