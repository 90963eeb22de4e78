import { closeSync, createReadStream, openSync, readSync } from 'node:fs'
import { Readable } from 'node:stream'
import { TextDecoder } from 'node:util'
import { createGunzip } from 'node:zlib'
import { OperationFailure } from '../../maintenance/operation.ts'

/** What stands between the cells of a line, the more common first. */
const DELIMITERS = [',', ';', '\t', '|'] as const

/** How a spreadsheet's file is written, as programs of all countries save it. */
export type TextFileFormat = {
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'
  readonly delimiter: (typeof DELIMITERS)[number]
  /** The first line is `sep=;`, by which Excel is told the delimiter. */
  readonly namesDelimiter: boolean
  /** A line is a JSON object, and there is no header. */
  readonly isJson: boolean
}

/** What files begin with: a ZIP archive, as which a workbook is stored, and one that gzip has packed. */
const ZIP = 'PK\u0003\u0004'
const GZIP = '\u001f\u008b'

/** Whether a file is a ZIP archive. @throws the system's error */
export const isZip = (file: string): boolean => readStart(file, ZIP.length) === ZIP

function readStart(file: string, length: number): string {
  const [bytes, handle] = [Buffer.alloc(length), openSync(file, 'r')]
  try {
    return bytes.toString('latin1', 0, readSync(handle, bytes, 0, length, 0))
  } finally {
    closeSync(handle)
  }
}

/** The bytes of a file, unpacked where gzip has packed them. Nothing is kept of what was read. */
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
 * Looks through a whole file for how it is written.
 * @throws Failed for a file of another kind, the system's and zlib's errors
 */
export async function detectTextFileFormat(file: string): Promise<TextFileFormat> {
  const encoding = await encodingOf(file)
  const lines = await firstLines(file, encoding)
  const [first = ''] = lines
  refuseOtherKinds(file, first.trimStart())
  if (lines.some((line) => line.includes('\0'))) throw new OperationFailure(`${file} is no text; ${SAVE_AS_CSV}`)
  const [, named] = /^"?sep=(.)"?$/i.exec(first.trim()) ?? []
  const delimiter = DELIMITERS.find((one) => one === named)
  return {
    encoding,
    delimiter: delimiter ?? delimiterOf(lines),
    namesDelimiter: delimiter !== undefined,
    isJson: first.trimStart().startsWith('{'),
  }
}

const SAVE_AS_CSV = 'open it with a spreadsheet program and save it as CSV'

/** What files of other kinds begin with, and what to do with them. */
const OTHER_KINDS: readonly (readonly [start: string, advice: string])[] = [
  ['[', 'is a JSON array; write its objects one a line, as `jq -c ".[]"` does'],
  ['<', `is a web page; ${SAVE_AS_CSV}`],
  ['\u00d0\u00cf\u0011\u00e0', `is a workbook of Excel 97 to 2003; ${SAVE_AS_CSV}`],
  [ZIP, 'is an archive that was packed once more; unpack it first'],
  ['%PDF-', 'is a PDF; stones are imported from a spreadsheet'],
]

/** @throws Failed, with what the file is and what to do */
function refuseOtherKinds(file: string, start: string): void {
  for (const [known, advice] of OTHER_KINDS)
    if (start.startsWith(known)) throw new OperationFailure(`${file} ${advice}`)
}

/** UTF-16 shows by its mark, or by the zeros of its ASCII; what is not UTF-8 is what Excel writes in the West. */
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

/** Lines and characters that are looked at for the delimiter. */
const MAX_SAMPLE_LINES = 30
const MAX_SAMPLE_CHARACTERS = 65_536

/** The first lines with anything in them. */
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
 * The character that divides most lines into equally many cells: a comma within numbers or remarks does not. Of those that
 * do so equally often, the one that makes more cells; the comma where there is but one column.
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
