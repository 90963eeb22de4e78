import { RequestError } from '../../domain/request-error.ts'
import { decodeCharset, parsePartHeaders, type PartHeaders } from './part-headers.ts'

/** Maximum bytes of the headers of a part, and of the text outside of all parts. */
const HEADERS_MAX_BYTES = 8 * 1024

/** Maximum blanks between a boundary and its line end. */
const PADDING_MAX_BYTES = 64

const CR = 0x0d
const LF = 0x0a
const LINE_END = Buffer.from('\r\n')
const EMPTY_LINE = '\r\n\r\n'

/** RFC 2046, section 5.1.1: 1 to 70 characters. Characters that should be quoted are accepted without quotes. */
const BOUNDARY = /;\s*boundary\s*=\s*(?:"([^"]{1,70})"|([^\s;"]{1,70}))\s*(?:;|$)/i

export const isMultipart = (type: string | undefined): boolean => /^multipart\/form-data\s*(?:;|$)/i.test(type ?? '')

/** A part of a multipart form. */
export type Part = PartHeaders & {
  /** Counted from 1. */
  readonly number: number
  /** Must be read to its end or not at all. */
  readonly content: AsyncIterable<Buffer>
}

/**
 * Reads the parts of a multipart form (RFC 7578), in order, so that the memory used does not depend on the size of
 * the form. Each line of the body that begins with the boundary opens a part, or ends the form: nothing is skipped. Text
 * before the first boundary and after the last one is ignored (RFC 2046, section 5.1.1).
 * @param type the Content-Type, with the boundary
 * @throws RequestError malformed; what `body` throws
 */
export async function* readParts(
  body: AsyncIterable<Buffer>,
  type: string,
  maxParts: number,
): AsyncGenerator<Part, void> {
  const scanner = new BoundaryScanner(body, boundaryOf(type))
  await scanner.skipOutside(scanner.untilBoundary(), 'before its first boundary')
  for (let number = 1; await scanner.isAtPart(); number += 1) {
    if (number > maxParts) throw new RequestError('malformed', `The form must have at most ${maxParts} parts`)
    const section = scanner.untilBoundary()
    const refuse = (reason: string) => unreadablePart({ number }, reason)
    const { headers, start } = await readHeaders(section, refuse)
    const content = contentOf(start, section)
    yield { ...parsePartHeaders(headers, refuse), number, content }
    await discard(content)
  }
  await scanner.skipOutside(scanner.untilEnd(), 'after its last boundary')
}

/** @throws RequestError malformed */
function boundaryOf(type: string): string {
  const [, quoted, plain] = BOUNDARY.exec(type) ?? []
  const boundary = quoted ?? plain
  if (boundary !== undefined) return boundary
  throw new RequestError('malformed', 'The Content-Type multipart/form-data must have a boundary of 1 to 70 characters')
}

const unreadablePart = ({ number, name }: Pick<Part, 'number'> & Partial<Part>, reason: string): RequestError =>
  new RequestError(
    'malformed',
    `Part ${number} of the form${name === undefined ? '' : ` (${name.slice(0, 60)})`} cannot be read: ${reason}`,
  )

/** Finds the boundaries in a body. */
class BoundaryScanner {
  /** The line end belongs to the boundary. Its CR is checked once the rest is found. */
  readonly #delimiter: Buffer
  readonly #chunks: AsyncIterator<Buffer>
  /** Number of boundaries. */
  #found = 0
  /** Bytes that were received but not yet returned. The first boundary needs no line end before it. */
  #pending: Buffer = LINE_END

  constructor(
    body: AsyncIterable<Buffer>,
    private readonly boundary: string,
  ) {
    this.#delimiter = Buffer.from(`\n--${boundary}`, 'latin1')
    this.#chunks = body[Symbol.asyncIterator]()
  }

  /** Returns the bytes before the next boundary, and moves behind it. @throws RequestError malformed */
  async *untilBoundary(): AsyncGenerator<Buffer, void> {
    for (;;) {
      const index = this.#pending.indexOf(this.#delimiter)
      if (index >= 0) {
        if (this.#pending[index - 1] !== CR) {
          throw new RequestError('malformed', `Boundary ${this.#found + 1} of the form must follow CR LF, got LF`)
        }
        yield this.#take(index - 1)
        this.#take(1 + this.#delimiter.length)
        this.#found += 1
        return
      }
      yield this.#take(this.#pending.length - this.#lengthOfPossibleBoundary())
      if (!(await this.#receive())) throw this.#incomplete()
    }
  }

  /**
   * Expects the end of a boundary's line: a line end, which is not consumed, or `--`, which ends the form.
   * @returns whether a part follows
   * @throws RequestError malformed
   */
  async isAtPart(): Promise<boolean> {
    for (;;) {
      const line = this.#pending.toString('latin1', 0, PADDING_MAX_BYTES)
      const [end] = /^(?:--|[ \t]*(?=\r\n))/.exec(line) ?? []
      if (end !== undefined) {
        this.#take(end.length)
        return end !== '--'
      }
      if (line.length === PADDING_MAX_BYTES || !/^(?:-|[ \t]*\r?)$/.test(line)) {
        throw new RequestError(
          'malformed',
          `Boundary ${this.#found} of the form must be followed by CR LF, or by -- if it is the last one`,
        )
      }
      if (!(await this.#receive())) throw this.#incomplete()
    }
  }

  /** Returns the rest of the body. */
  async *untilEnd(): AsyncGenerator<Buffer, void> {
    do yield this.#take(this.#pending.length)
    while (await this.#receive())
  }

  /**
   * Discards text outside of all parts, in which no part may get lost: one whose boundary does not begin a line, for example
   * after a byte order mark, or one after the end of the form.
   * @throws RequestError malformed
   */
  async skipOutside(section: AsyncIterable<Buffer>, place: string): Promise<void> {
    let text = ''
    for await (const chunk of section) {
      text += chunk.toString('latin1')
      if (text.length > HEADERS_MAX_BYTES) {
        throw new RequestError('malformed', `The form has more than ${HEADERS_MAX_BYTES} bytes ${place}`)
      }
    }
    if (text.includes(`--${this.boundary}`) || /content-disposition/i.test(text)) {
      throw new RequestError('malformed', `The form has a part ${place}`)
    }
  }

  /** Bytes at the end that may be the start of a boundary: from a line end, with the byte before it. */
  #lengthOfPossibleBoundary(): number {
    const tail = this.#pending.subarray(-1 - this.#delimiter.length)
    const lineEnd = tail.lastIndexOf(LF)
    if (lineEnd >= 0) return tail.length - Math.max(0, lineEnd - 1)
    return tail.at(-1) === CR ? 1 : 0
  }

  #take(length: number): Buffer {
    const taken = this.#pending.subarray(0, length)
    this.#pending = this.#pending.subarray(length)
    return taken
  }

  /** @returns false at the end of the body */
  async #receive(): Promise<boolean> {
    const { done, value } = await this.#chunks.next()
    if (done === true) return false
    this.#pending = this.#pending.length === 0 ? value : Buffer.concat([this.#pending, value])
    return true
  }

  #incomplete(): RequestError {
    return new RequestError(
      'malformed',
      this.#found === 0
        ? 'The form does not contain its boundary'
        : `The form ends in part ${this.#found}, before its last boundary`,
    )
  }
}

/**
 * Reads the headers at the start of a section, which begins with the line end of its boundary.
 * @returns the headers without that line end and the empty line, and the start of the content
 */
async function readHeaders(
  section: AsyncIterator<Buffer>,
  refuse: (reason: string) => RequestError,
): Promise<{ headers: Buffer; start: Buffer }> {
  let bytes = Buffer.alloc(0)
  for (;;) {
    const { done, value } = await section.next()
    // A section that ends with its headers has no content (RFC 2046, section 5.1.1); its empty line is the next boundary's.
    bytes = Buffer.concat(done === true ? [bytes, LINE_END] : [bytes, value])
    const end = bytes.indexOf(EMPTY_LINE)
    if (Math.max(end, end < 0 ? bytes.length : 0) > HEADERS_MAX_BYTES) {
      throw refuse(`its headers have more than ${HEADERS_MAX_BYTES} bytes`)
    }
    if (end >= 0)
      return { headers: bytes.subarray(LINE_END.length, end), start: bytes.subarray(end + EMPTY_LINE.length) }
    if (done === true) throw refuse('the empty line after its headers is missing')
  }
}

/** Without empty chunks. */
async function* contentOf(start: Buffer, section: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  if (start.length > 0) yield start
  for await (const chunk of section) if (chunk.length > 0) yield chunk
}

async function discard(content: AsyncIterable<Buffer>): Promise<void> {
  for await (const chunk of content) void chunk
}

/** Reads the content of a part into memory. @throws RequestError invalid if it is longer */
export async function readContent({ name, content }: Part, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of content) {
    length += chunk.length
    if (length > maxBytes) {
      const message = `${name.slice(0, 60)} must be at most ${maxBytes.toLocaleString('en')} bytes`
      throw new RequestError('invalid', [{ pointer: `/${name.slice(0, 60)}`, message, code: 'range' }])
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Decodes the text of a part. @throws RequestError malformed */
export function decodeText(part: Part, bytes: Buffer, defaultCharset = 'UTF-8'): string {
  const { charset = defaultCharset } = part
  // Keeps a byte order mark, so that a secret is revealed exactly as it was shared.
  const text = decodeCharset(bytes, charset, { fatal: true, ignoreBOM: true })
  if (text === undefined) throw unreadablePart(part, `its text cannot be decoded as ${charset.slice(0, 40)}`)
  return text
}
