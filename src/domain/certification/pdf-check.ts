/** Maximum bytes of a report's file. */
export const MAX_REPORT_BYTES = 10_485_760

/** The bytes are no PDF. The message is the reason. */
export class NotPdf extends Error {
  override readonly name = 'NotPdf'
}

/**
 * Validates a PDF by its content while it is streamed: `%PDF-` within the first 1,024 bytes and an end-of-file mark anywhere
 * after it. Ignores its name and declared type, and bytes before and after those marks, as PDF readers do.
 */
export class PdfCheck {
  /** The bytes received so far, until the header is found. */
  #head = Buffer.alloc(0)
  #hasHeader = false
  /** The last bytes received, which may be the start of the end-of-file mark. */
  #tail = Buffer.alloc(0)
  #hasEnd = false

  /** @throws NotPdf as soon as it cannot be a PDF */
  update(chunk: Buffer): void {
    if (this.#hasHeader) this.#findEnd(chunk)
    else this.#findHeader(chunk)
  }

  /** @throws NotPdf */
  finish(): void {
    if (!this.#hasHeader) throw missingHeader()
    if (!this.#hasEnd) throw new NotPdf('the end-of-file mark %%EOF is missing; the file may be truncated')
  }

  #findHeader(chunk: Buffer): void {
    const bytes = Buffer.concat([this.#head, chunk])
    const headerIndex = bytes.subarray(0, HEADER_SEARCH_BYTES).indexOf(HEADER)
    this.#hasHeader = headerIndex >= 0
    if (this.#hasHeader) this.#findEnd(bytes.subarray(headerIndex))
    else if (bytes.length >= HEADER_SEARCH_BYTES) throw missingHeader()
    this.#head = this.#hasHeader ? Buffer.alloc(0) : bytes
  }

  #findEnd(chunk: Buffer): void {
    if (this.#hasEnd) return
    const bytes = Buffer.concat([this.#tail, chunk])
    this.#hasEnd = bytes.includes(END)
    // A copy: a view would keep the whole chunk in memory.
    this.#tail = Buffer.from(bytes.subarray(1 - END.length))
  }
}

const missingHeader = () => new NotPdf(`%PDF- is missing in the first ${HEADER_SEARCH_BYTES} bytes`)

/** PDF readers search for the header in the first 1,024 bytes (ISO 32000-1, annex H, implementation note 13). */
const HEADER_SEARCH_BYTES = 1_024

const HEADER = Buffer.from('%PDF-')

const END = Buffer.from('%%EOF')
