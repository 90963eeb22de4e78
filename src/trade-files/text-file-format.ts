import { closeSync, createReadStream, openSync, readSync } from 'node:fs'
import { Readable } from 'node:stream'
import { TextDecoder } from 'node:util'
import { createGunzip } from 'node:zlib'
import { UnreadableFile } from './errors.ts'

/** Delimiters, most common first. */
const DELIMITERS = [',', ';', '\t', '|'] as const

/** The format of a text file. */
export type TextFileFormat = {
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'
  readonly delimiter: (typeof DELIMITERS)[number]
  /** The first line is `sep=;`, which tells Excel the delimiter. */
  readonly hasDelimiterLine: boolean
  /** One JSON object per line and no header. */
  readonly isJson: boolean
}

/** First bytes of a ZIP archive, such as a workbook, and of a gzip file. */
const ZIP = 'PK\u0003\u0004'
const GZIP = '\u001f\u008b'

/** Whether a file is a ZIP archive. @throws system errors */
export const isZip = (file: string): boolean => readStart(file, ZIP.length) === ZIP

/** @throws system errors */
const isGzip = (file: string): boolean => readStart(file, GZIP.length) === GZIP

function readStart(file: string, length: number): string {
  const [bytes, handle] = [Buffer.alloc(length), openSync(file, 'r')]
  try {
    return bytes.toString('latin1', 0, readSync(handle, bytes, 0, length, 0))
  } finally {
    closeSync(handle)
  }
}

/** The bytes of a file, decompressed if it is a gzip file. */
export function bytesOf(file: string): Readable {
  const raw = createReadStream(file)
  if (!isGzip(file)) return raw
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
 * @throws UnreadableFile for another kind of file; system and zlib errors
 */
export async function detectTextFileFormat(file: string): Promise<TextFileFormat> {
  const encoding = await encodingOf(file)
  const lines = await firstLines(file, encoding)
  const [first = ''] = lines
  rejectUnsupportedFormats(first.trimStart())
  if (lines.some((line) => line.includes('\0'))) throw new UnreadableFile(`is not a text file; ${SAVE_AS_CSV}`)
  const [, namedDelimiter] = /^"?sep=(.)"?$/i.exec(first.trim()) ?? []
  const delimiter = DELIMITERS.find((one) => one === namedDelimiter)
  return {
    encoding,
    delimiter: delimiter ?? delimiterOf(lines),
    hasDelimiterLine: delimiter !== undefined,
    isJson: first.trimStart().startsWith('{'),
  }
}

const SAVE_AS_CSV = 'open it in a spreadsheet program and save it as CSV'

/** First characters of other kinds of files, with advice. */
const UNSUPPORTED_FORMATS: readonly (readonly [start: string, advice: string])[] = [
  ['[', 'is a JSON array; convert it to one object per line, for example with `jq -c ".[]"`'],
  ['<', `is an HTML or XML file; ${SAVE_AS_CSV}`],
  ['\u00d0\u00cf\u0011\u00e0', `is an Excel 97-2003 workbook; ${SAVE_AS_CSV}`],
  [ZIP, 'is a compressed ZIP archive; decompress it first'],
  ['%PDF-', 'is a PDF; import a spreadsheet instead'],
]

/** @throws UnreadableFile with the kind of file and advice */
function rejectUnsupportedFormats(start: string): void {
  for (const [signature, advice] of UNSUPPORTED_FORMATS)
    if (start.startsWith(signature)) throw new UnreadableFile(advice)
}

/**
 * UTF-16 is recognised by its byte order mark or by the zero bytes of ASCII characters. A file that is not valid UTF-8 is
 * taken for Windows-1252, which Excel writes in Western locales.
 */
async function encodingOf(file: string): Promise<TextFileFormat['encoding']> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let isFirst = true
  for await (const chunk of bytesOf(file) as AsyncIterable<Buffer>) {
    const utf16Encoding = isFirst ? detectUtf16(chunk) : undefined
    if (utf16Encoding !== undefined) return utf16Encoding
    isFirst = false
    if (!canDecode(decoder, chunk)) return 'windows-1252'
  }
  return canDecode(decoder) ? 'utf-8' : 'windows-1252'
}

function canDecode(decoder: TextDecoder, chunk?: Buffer): boolean {
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
  let isWithinLimit = true
  for await (const text of textOf(file, encoding) as AsyncIterable<string>) {
    start += text
    isWithinLimit = start.length <= MAX_SAMPLE_CHARACTERS
    if (!isWithinLimit || start.split(/[\r\n]+/).length > MAX_SAMPLE_LINES + 1) break
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
  const unquotedLines = lines.map((line) => line.replaceAll(/"[^"]*"/g, ''))
  let best = { delimiter: DELIMITERS[0] as TextFileFormat['delimiter'], lines: 0, cells: 0 }
  for (const delimiter of DELIMITERS) {
    const delimiterCounts = unquotedLines
      .map((line) => line.split(delimiter).length - 1)
      .filter((delimiterCount) => delimiterCount > 0)
    for (const delimiterCount of new Set(delimiterCounts)) {
      const lineCount = delimiterCounts.filter((other) => other === delimiterCount).length
      const isBetter = lineCount > best.lines || (lineCount === best.lines && delimiterCount > best.cells)
      if (isBetter) best = { delimiter, lines: lineCount, cells: delimiterCount }
    }
  }
  return best.delimiter
}
