import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { TextDecoder } from 'node:util'
import { createGunzip } from 'node:zlib'

/** How a spreadsheet's file is written, as programs of all countries save it. */
export type Form = {
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'
  readonly delimiter: ',' | ';' | '\t'
  /** A line is a JSON object, and there is no header. */
  readonly isJson: boolean
}

/** The bytes of a file, unpacked where its name says that they are packed. Nothing is kept of what was read. */
function bytesOf(file: string): Readable {
  const raw = createReadStream(file)
  if (!file.toLowerCase().endsWith('.gz')) return raw
  const unpacked = createGunzip()
  raw.on('error', (error) => unpacked.destroy(error))
  return raw.pipe(unpacked)
}

/** The text of a file, without a byte order mark. */
export function textOf(file: string, encoding: Form['encoding']): Readable {
  const bytes = bytesOf(file)
  return Readable.from(decoded(bytes, new TextDecoder(encoding)))
}

async function* decoded(bytes: AsyncIterable<Buffer>, decoder: TextDecoder): AsyncGenerator<string> {
  for await (const chunk of bytes) yield decoder.decode(chunk, { stream: true })
  yield decoder.decode()
}

/** Looks through a whole file for how it is written. @throws the system's and zlib's errors */
export async function formOf(file: string): Promise<Form> {
  const encoding = await encodingOf(file)
  const first = await firstLine(file, encoding)
  return { encoding, delimiter: delimiterOf(first), isJson: first.trimStart().startsWith('{') }
}

/** UTF-16 shows by its mark, or by the zeros of its ASCII; what is not UTF-8 is what Excel writes in the West. */
async function encodingOf(file: string): Promise<Form['encoding']> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let isFirst = true
  for await (const chunk of bytesOf(file) as AsyncIterable<Buffer>) {
    const wide = isFirst ? wideOf(chunk) : undefined
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

function wideOf(start: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  const [first, second] = start
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return 'utf-16le'
  return (first === 0xfe && second === 0xff) || (first === 0 && second !== 0) ? 'utf-16be' : undefined
}

/** Characters of a header at most; what is longer is no header. */
const HEADER = 65_536

async function firstLine(file: string, encoding: Form['encoding']): Promise<string> {
  let start = ''
  for await (const text of textOf(file, encoding) as AsyncIterable<string>) {
    start += text
    const found = /^[^\r\n]*\S[^\r\n]*(?=[\r\n])/m.exec(start)
    if (found !== null) return found[0]
    if (start.length > HEADER) break
  }
  return start
}

/** The one that stands in the header most often outside of quotes; the comma where there is but one column. */
function delimiterOf(header: string): Form['delimiter'] {
  const bare = header.replaceAll(/"[^"]*"/g, '')
  const times = (one: string) => bare.split(one).length
  const [most] = ([',', ';', '\t'] as const).toSorted((one, other) => times(other) - times(one))
  return most ?? ','
}
