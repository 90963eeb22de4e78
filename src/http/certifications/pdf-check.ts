import { Refusal } from '../../domain/refusal.ts'

/** Bytes of a report's file at most. */
export const FILE_LIMIT = 10_485_760

const HEADER = Buffer.from('%PDF-')
const END = Buffer.from('%%EOF')

/** Readers of PDF look for the end-of-file mark in so many last bytes (ISO 32000-1, annex H, implementation note 18). */
const TAIL = 1_024

/**
 * Looks at a PDF while it flows by, whatever its name or declared type: it starts with `%PDF-`, and has an end-of-file
 * mark within its last 1,024 bytes. White space and NUL behind those, which some systems fill files up with, don't count.
 */
export class PdfCheck {
  #bytes = 0
  #head = Buffer.alloc(0)
  #tail = Buffer.alloc(0)

  get bytes(): number {
    return this.#bytes
  }

  /** @throws Refusal unsupported as soon as it can't be a PDF, too-large with the first byte over the limit */
  take(chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#head.length < HEADER.length) {
      this.#head = Buffer.concat([this.#head, chunk.subarray(0, HEADER.length - this.#head.length)])
      if (!HEADER.subarray(0, this.#head.length).equals(this.#head)) throw noPdf('it does not start with %PDF-')
    }
    if (this.#bytes > FILE_LIMIT) throw tooLarge()
    this.#keepTail(chunk)
  }

  /** @throws Refusal unsupported */
  end(): void {
    if (this.#head.length < HEADER.length) throw noPdf('it does not start with %PDF-')
    if (!this.#tail.includes(END)) throw noPdf('its end-of-file mark %%EOF is missing, as when it was cut off')
  }

  /** A copy: a view would keep the whole chunk in memory. */
  #keepTail(chunk: Buffer): void {
    const end = endOfContent(chunk)
    if (end === 0) return
    const last = chunk.subarray(Math.max(0, end - TAIL), end)
    this.#tail = Buffer.concat([this.#tail, last]).subarray(-TAIL)
  }
}

/** PDF's white space: NUL, tab, line feed, form feed, carriage return, space (ISO 32000-1, 7.2.2). */
const PADDING = new Set([0x00, 0x09, 0x0a, 0x0c, 0x0d, 0x20])

function endOfContent(chunk: Buffer): number {
  let end = chunk.length
  while (end > 0 && PADDING.has(chunk[end - 1] ?? -1)) end--
  return end
}

const noPdf = (why: string) => new Refusal('unsupported', [{ pointer: '/file', message: `file must be a PDF: ${why}` }])

export const tooLarge = () =>
  new Refusal('too-large', [{ pointer: '/file', message: `file may have at most ${FILE_LIMIT} bytes` }])
