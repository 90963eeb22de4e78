import type { Readable } from 'node:stream'
import { openPromise, type Entry } from 'yauzl'
import { UnreadableFile } from './errors.ts'
import { bytesOf, isZip } from './text-file-format.ts'

/** Limits of what an archive becomes when it is unpacked. */
const MAX_UNPACKED_BYTES = 200_000_000
/** Of a part with more than a megabyte. Workbooks reach 30. */
const MAX_RATIO = 100
const RATIO_MIN_BYTES = 1_000_000
/** A sheet is parsed as a whole: a million cells take some 250 MB of memory. */
const MAX_CELLS = 5_000_000
/** The column ALL. Parsers fill a row up to its last cell, and a sheet up to its last row: 250,000 rows take 100 MB. */
const MAX_COLUMNS = 1_000
const MAX_ROW = 250_000
/** One for each week, and some. */
const MAX_SHEETS = 100
/** More than a sheet of Excel has, which exports its empty rows, too. */
const MAX_TEXT_LINES = 1_100_000

/**
 * Unpacks a stock list without keeping it, so that what it becomes is known before it is parsed.
 * @throws UnreadableFile if it is damaged, encrypted, too large or has macros; system errors
 */
export async function checkStockList(file: string): Promise<void> {
  const size = new UnpackedSize()
  const checking = isZip(file) ? checkWorkbook(file, size) : checkText(file, size)
  await checking.catch(explainDamage)
}

async function checkText(file: string, size: UnpackedSize): Promise<void> {
  const counters = ['\n', '\r'].map((lineEnd) => ({ byte: lineEnd.charCodeAt(0), count: 0 }))
  await readAll(bytesOf(file), (chunk) => {
    size.add(chunk.length)
    for (const counter of counters) {
      for (let at = chunk.indexOf(counter.byte); at >= 0; at = chunk.indexOf(counter.byte, at + 1)) counter.count++
      if (counter.count > MAX_TEXT_LINES)
        throw new UnreadableFile(
          `has more than ${MAX_TEXT_LINES.toLocaleString('en')} lines with the empty ones; delete those, or divide it`,
        )
    }
  })
}

/** The reader of archives refuses names such as `../x`, and contents that are longer than declared. */
async function checkWorkbook(file: string, size: UnpackedSize): Promise<void> {
  const cells = new CellCounter()
  const zip = await openPromise(file, { lazyEntries: true })
  for await (const entry of zip.eachEntry()) {
    if (MACROS.test(entry.fileName)) throw new UnreadableFile('contains macros; save it as .xlsx')
    if (entry.fileName.endsWith('/')) continue
    checkEntry(entry, 'save it as CSV')
    cells.startPart()
    await readAll(await zip.openReadStreamPromise(entry), (chunk) => {
      size.add(chunk.length)
      cells.add(chunk)
    })
  }
}

const MACROS = /(?:^|\/)vba[^/]*\.bin$/i

/** @param remedy what to do about a bomb @throws UnreadableFile if a file of an archive is encrypted or a bomb */
export function checkEntry(entry: Entry, remedy: string): void {
  if (entry.isEncrypted()) throw new UnreadableFile('is encrypted; save it without a password')
  const { fileName, compressedSize, uncompressedSize } = entry
  if (uncompressedSize > RATIO_MIN_BYTES && uncompressedSize > MAX_RATIO * compressedSize)
    throw new UnreadableFile(`is compressed more than ${MAX_RATIO}-fold (${fileName.slice(0, 60)}); ${remedy}`)
}

async function readAll(content: Readable, onChunk: (chunk: Buffer) => void): Promise<void> {
  for await (const chunk of content as AsyncIterable<Buffer>) onChunk(chunk)
}

export class UnpackedSize {
  #bytes = 0

  /** @throws UnreadableFile above the limit */
  add(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes > MAX_UNPACKED_BYTES)
      throw new UnreadableFile(
        `has more than ${MAX_UNPACKED_BYTES.toLocaleString('en')} bytes when unpacked; divide it`,
      )
  }
}

const [LESS_THAN, GREATER_THAN] = ['<', '>'].map((character) => character.charCodeAt(0)) as [number, number]

/** A longer tag, with its attributes, is no cell. */
const MAX_TAG_LENGTH = 1_024

/** Counts the cells and the sheets in the XML of a workbook, and looks for what its parser should not see. */
class CellCounter {
  #cells = 0
  #row = ''
  readonly #sheetIds = new Set<string>()
  readonly #sheetParts = new Set<string>()
  /** A tag that began in an earlier chunk. */
  #start = ''

  startPart(): void {
    this.#start = ''
  }

  add(chunk: Buffer): void {
    let from = 0
    if (this.#start !== '') {
      const end = chunk.indexOf(GREATER_THAN)
      this.#start += chunk.toString('latin1', 0, end < 0 ? Math.min(chunk.length, MAX_TAG_LENGTH) : end)
      if (end < 0 && this.#start.length < MAX_TAG_LENGTH) return
      this.#check(this.#start)
      this.#start = ''
      from = Math.max(end, 0)
    }
    for (let index = chunk.indexOf(LESS_THAN, from); index >= 0; index = chunk.indexOf(LESS_THAN, index + 1)) {
      const end = chunk.indexOf(GREATER_THAN, index)
      if (end < 0) {
        this.#start = chunk.toString('latin1', index + 1, index + MAX_TAG_LENGTH)
        return
      }
      if (end - index < MAX_TAG_LENGTH) this.#check(chunk.toString('latin1', index + 1, end))
    }
  }

  /** @param tag without its brackets */
  #check(tag: string): void {
    if (tag.startsWith('!DOCTYPE')) throw new UnreadableFile('has a document type declaration; save it again as .xlsx')
    const [, name, attributes = ''] = ELEMENT.exec(tag) ?? []
    if (name === 'c') this.#checkCell(attributes)
    else if (name === 'row') this.#row = REFERENCE.exec(attributes)?.[2] ?? ''
    else if (name === 'sheet') countSheet(this.#sheetIds, RELATIONSHIP_ID.exec(attributes))
    else if (name === 'Relationship' && WORKSHEET.test(attributes))
      countSheet(this.#sheetParts, TARGET.exec(attributes))
  }

  #checkCell(attributes: string): void {
    const [, column = '', row = ''] = REFERENCE.exec(attributes) ?? []
    if (++this.#cells > MAX_CELLS)
      throw new UnreadableFile(`has more than ${MAX_CELLS.toLocaleString('en')} cells; save it as CSV`)
    if (column.length > 3 || (column.length === 3 && column > LAST_COLUMN))
      throw new UnreadableFile(`has a cell in column ${column}; it may have ${MAX_COLUMNS} columns`)
    // Other programs write attributes of empty rows down to the last one.
    const line = Number(row || this.#row)
    if (line > MAX_ROW)
      throw new UnreadableFile(
        `has a cell in line ${line.toLocaleString('en')}; it may have ${MAX_ROW.toLocaleString('en')} lines`,
      )
  }
}

/** What a part of a workbook may say of a sheet or a cell, with or without a namespace. */
const ELEMENT = /^(?:[\w.-]+:)?(c|row|sheet|Relationship)(?=[\s/]|$)(.*)/s
/** `AB12` of a cell, `12` of a row. */
const REFERENCE = /\sr\s*=\s*["']([A-Z]*)(\d*)/
const LAST_COLUMN = 'ALL'
const RELATIONSHIP_ID = /\s(?:[\w.-]+:)?id\s*=\s*["']([^"']*)/
const WORKSHEET = /\sType\s*=\s*["'][^"']*\/worksheet["']/
const TARGET = /\sTarget\s*=\s*["'](?:[^"']*\/)?([^"'/]*)/

/** Each sheet is parsed, also one that is named a thousand times. @throws UnreadableFile */
function countSheet(known: Set<string>, found: RegExpExecArray | null): void {
  const id = found?.[1] ?? ''
  if (known.has(id)) throw new UnreadableFile(`names the sheet ${id.slice(0, 40)} twice; save it again as .xlsx`)
  if (known.add(id).size > MAX_SHEETS)
    throw new UnreadableFile(`has more than ${MAX_SHEETS} sheets; save the one with the stones as a separate file`)
}

/** The errors of the readers of archives have no class. */
export function explainDamage(error: unknown): never {
  if (error instanceof UnreadableFile || !(error instanceof Error) || isSystemError(error)) throw error
  throw new UnreadableFile(`is damaged: ${error.message}`)
}

const isSystemError = ({ syscall }: NodeJS.ErrnoException): boolean => syscall !== undefined
