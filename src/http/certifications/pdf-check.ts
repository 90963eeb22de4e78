import { Refusal } from '../../domain/refusal.ts'

/** Bytes of a report's file at most. */
export const FILE_LIMIT = 10_485_760

const HEADER = Buffer.from('%PDF-')
const END = Buffer.from('%%EOF')

/** Readers of PDF look for the header in so many first bytes (ISO 32000-1, annex H, implementation note 13). */
const HEAD = 1_024

/**
 * Looks at a PDF while it flows by, whatever its name or declared type. As in readers of PDF, `%PDF-` stands within its
 * first 1,024 bytes, and an end-of-file mark anywhere behind it; what is before and behind those does not count.
 */
export class PdfCheck {
  #bytes = 0
  /** The first bytes, as long as they have no header. */
  #head = Buffer.alloc(0)
  #hasHeader = false
  /** The last bytes that may be the beginning of the mark. */
  #tail = Buffer.alloc(0)
  #hasEnd = false

  get bytes(): number {
    return this.#bytes
  }

  /** @throws Refusal unsupported as soon as it can't be a PDF, too-large with the first byte over the limit */
  take(chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#hasHeader) this.#lookForEnd(chunk)
    else this.#lookForHeader(chunk)
    if (this.#bytes > FILE_LIMIT) throw tooLarge()
  }

  /** @throws Refusal unsupported */
  end(): void {
    if (!this.#hasHeader) throw withoutHeader()
    if (!this.#hasEnd) throw noPdf('its end-of-file mark %%EOF is missing, as when it was cut off')
  }

  #lookForHeader(chunk: Buffer): void {
    const seen = Buffer.concat([this.#head, chunk])
    const at = seen.subarray(0, HEAD).indexOf(HEADER)
    this.#hasHeader = at >= 0
    if (this.#hasHeader) this.#lookForEnd(seen.subarray(at))
    else if (seen.length >= HEAD) throw withoutHeader()
    this.#head = this.#hasHeader ? Buffer.alloc(0) : seen
  }

  #lookForEnd(chunk: Buffer): void {
    if (this.#hasEnd) return
    const seen = Buffer.concat([this.#tail, chunk])
    this.#hasEnd = seen.includes(END)
    // A copy: a view would keep the whole chunk in memory.
    this.#tail = Buffer.from(seen.subarray(1 - END.length))
  }
}

const withoutHeader = () => noPdf(`%PDF- is not within its first ${HEAD} bytes`)

const noPdf = (why: string) => new Refusal('unsupported', [{ pointer: '/file', message: `file must be a PDF: ${why}` }])

export const tooLarge = () =>
  new Refusal('too-large', [{ pointer: '/file', message: `file may have at most ${FILE_LIMIT} bytes` }])
