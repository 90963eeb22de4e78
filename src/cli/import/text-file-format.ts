import { closeSync, createReadStream, openSync, readSync } from 'node:fs'
import { Readable } from 'node:stream'
import { TextDecoder } from 'node:util'
import { createGunzip } from 'node:zlib'
import { OperationFailure } from '../../maintenance/operation.ts'

/** Delimiters, most common first. */
const DELIMITERS = [',', ';', '\t', '|'] as const

/** The format of a text file. */
export type TextFileFormat = {
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'
  readonly delimiter: (typeof DELIMITERS)[number]
  /** The first line is `sep=;`, which tells Excel the delimiter. */
  readonly namesDelimiter: boolean
  /** One JSON object per line and no header. */
  readonly isJson: boolean
}

/** First bytes of a ZIP archive, such as a workbook, and of a gzip file. */
const ZIP = 'PK\u0003\u0004'
const GZIP = '\u001f\u008b'

/** Whether a file is a ZIP archive. @throws system errors */
export const isZip = (file: string): boolean => readStart(file, ZIP.length) === ZIP

function readStart(file: string, length: number): string {
  const [bytes, handle] = [Buffer.alloc(length), openSync(file, 'r')]
  try {
    return bytes.toString('latin1', 0, readSync(handle, bytes, 0, length, 0))
  } finally {
    closeSync(handle)
  }
}

/** The bytes of a file, decompressed if it is a gzip file. */
function bytesOf(file: string): Readable {
  const raw = createReadStream(file)
  if (readStart(file, GZIP.length) !== GZIP) return raw
  const unpacked = createGunzip()
  raw.on('error', (error) => unpacked.destroy(error))
  return raw.pipe(unpacked)
}

/** The text of a file, without a byte order mark. */
export function textOf(file: string, encoding: TextFileFormat['encoding']): Readable {
  const bytes = bytesOf(file)
  return Readable.from(decodeChunks(bytes, new TextDecoder(encoding)))
}

async function* decodeChunks(bytes: AsyncIterable<Buffer>, decoder: TextDecoder): AsyncGenerator<string> {
  for await (const chunk of bytes) yield decoder.decode(chunk, { stream: true })
  yield decoder.decode()
}

/**
 * Detects the format of a file; reads all of it for the encoding.
 * @throws OperationFailure for another kind of file; system and zlib errors
 */
export async function detectTextFileFormat(file: string): Promise<TextFileFormat> {
  const encoding = await encodingOf(file)
  const lines = await firstLines(file, encoding)
  const [first = ''] = lines
  refuseOtherKinds(file, first.trimStart())
  if (lines.some((line) => line.includes('\0')))
    throw new OperationFailure(`${file} is not a text file; ${SAVE_AS_CSV}`)
  const [, named] = /^"?sep=(.)"?$/i.exec(first.trim()) ?? []
  const delimiter = DELIMITERS.find((one) => one === named)
  return {
    encoding,
    delimiter: delimiter ?? delimiterOf(lines),
    namesDelimiter: delimiter !== undefined,
    isJson: first.trimStart().startsWith('{'),
  }
}

const SAVE_AS_CSV = 'open it in a spreadsheet program and save it as CSV'

/** First characters of other kinds of files, with advice. */
const OTHER_KINDS: readonly (readonly [start: string, advice: string])[] = [
  ['[', 'is a JSON array; convert it to one object per line, for example with `jq -c ".[]"`'],
  ['<', `is an HTML or XML file; ${SAVE_AS_CSV}`],
  ['\u00d0\u00cf\u0011\u00e0', `is an Excel 97-2003 workbook; ${SAVE_AS_CSV}`],
  [ZIP, 'is a compressed ZIP archive; decompress it first'],
  ['%PDF-', 'is a PDF; import a spreadsheet instead'],
]

/** @throws OperationFailure with the kind of file and advice */
function refuseOtherKinds(file: string, start: string): void {
  for (const [known, advice] of OTHER_KINDS)
    if (start.startsWith(known)) throw new OperationFailure(`${file} ${advice}`)
}

/**
 * UTF-16 is recognised by its byte order mark or by the zero bytes of ASCII characters. A file that is not valid UTF-8 is
 * taken for Windows-1252, which Excel writes in Western locales.
 */
async function encodingOf(file: string): Promise<TextFileFormat['encoding']> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let isFirst = true
  for await (const chunk of bytesOf(file) as AsyncIterable<Buffer>) {
    const wide = isFirst ? detectUtf16(chunk) : undefined
    if (wide !== undefined) return wide
    isFirst = false
    if (!decodes(decoder, chunk)) return 'windows-1252'
  }
  return decodes(decoder) ? 'utf-8' : 'windows-1252'
}

function decodes(decoder: TextDecoder, chunk?: Buffer): boolean {
  try {
    decoder.decode(chunk, { stream: chunk !== undefined })
    return true
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  }
}

function detectUtf16(start: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  const [first, second] = start
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return 'utf-16le'
  return (first === 0xfe && second === 0xff) || (first === 0 && second !== 0) ? 'utf-16be' : undefined
}

/** Lines and characters that are examined for the delimiter. */
const MAX_SAMPLE_LINES = 30
const MAX_SAMPLE_CHARACTERS = 65_536

/** The first non-empty lines. */
async function firstLines(file: string, encoding: TextFileFormat['encoding']): Promise<string[]> {
  let start = ''
  let isWhole = true
  for await (const text of textOf(file, encoding) as AsyncIterable<string>) {
    start += text
    isWhole = start.length <= MAX_SAMPLE_CHARACTERS
    if (!isWhole || start.split(/[\r\n]+/).length > MAX_SAMPLE_LINES + 1) break
  }
  const lines = start
    .slice(0, MAX_SAMPLE_CHARACTERS)
    .split(/[\r\n]+/)
    .filter((line) => /\S/.test(line))
  return lines.slice(0, MAX_SAMPLE_LINES)
}

/**
 * The delimiter that splits the most lines into the same number of cells, unlike commas within numbers or remarks. Ties go to
 * the one with more cells; a single column gets the comma.
 */
function delimiterOf(lines: readonly string[]): TextFileFormat['delimiter'] {
  const bare = lines.map((line) => line.replaceAll(/"[^"]*"/g, ''))
  let best = { delimiter: DELIMITERS[0] as TextFileFormat['delimiter'], lines: 0, cells: 0 }
  for (const delimiter of DELIMITERS) {
    const cells = bare.map((line) => line.split(delimiter).length - 1).filter((times) => times > 0)
    for (const times of new Set(cells)) {
      const equal = cells.filter((other) => other === times).length
      const isBetter = equal > best.lines || (equal === best.lines && times > best.cells)
      if (isBetter) best = { delimiter, lines: equal, cells: times }
    }
  }
  return best.delimiter
}
