import type { ReceivedFile } from '../../commands/certifications/certifications.ts'
import { networkOf } from '../../credentials/failed-attempt-limiter.ts'
import { safeFileName } from '../../domain/file-name.ts'
import { RequestError, type ErrorDetail } from '../../domain/request-error.ts'
import { HttpError } from '../kit/http-error.ts'
import { FairSemaphore } from '../../runtime/fairness/semaphores.ts'
import type { FileStore } from '../../stores/ports/file-store.ts'
import { discardRest, readWithLimits, refuseEncoding } from '../kit/body-limits.ts'
import type { BearerPrincipal } from '../kit/authenticate.ts'
import type { EndpointContext } from '../kit/endpoint.ts'
import { ErrorWithHeaders } from '../kit/errors.ts'
import { decodeText, readContent, readParts, type Part } from '../kit/multipart.ts'
import { formOptions } from '../kit/parameters/form.ts'
import { decodeCharset } from '../kit/part-headers.ts'
import { bodyReader, DEFAULT_BODY_MAX_BYTES } from '../kit/read-body.ts'
import { ChunkGarbageCollector, UploadThrottle, type ThrottleOptions } from './upload-throttle.ts'

/** Reads forms with files, and limits how many are read concurrently in this process. */
export class FormUploads {
  readonly #shared: Omit<ThrottleOptions, 'waiter'> = {
    permits: new FairSemaphore(MAX_CONCURRENT_FORMS),
    garbageCollector: new ChunkGarbageCollector(BYTES_PER_COLLECTION),
  }

  constructor(private readonly files: FileStore) {}

  /**
   * Reads a multipart form, streaming its file into temporary storage. The caller discards the file unless it was stored.
   * @throws FormUploadError if the form is too large; RequestError malformed; HttpError 408; StoreUnavailable
   */
  async read(
    ctx: EndpointContext<BearerPrincipal>,
    { maxBytes, createValidator, tooLarge, maxParts = MAX_PARTS }: FileUploadRule,
  ): Promise<UploadForm> {
    const { account } = ctx.state.principal
    // Permits are shared fairly among addresses and, for each address, among accounts.
    const waiter = { names: [`address ${networkOf(ctx.ip)}`, `account ${account}`], isPriority: false }
    const options = {
      maxBytes: maxBytes + FORM_OVERHEAD_BYTES,
      throttle: { ...this.#shared, waiter },
      createValidator,
      maxParts,
    }
    const reader = new FormReader(ctx, this.files, options)
    try {
      refuseEncoding(ctx.req)
      if (Number(ctx.get('Content-Length')) > options.maxBytes) throw tooLarge()
      return await reader.read()
    } catch (error) {
      discardRest(ctx.req)
      if (!(error instanceof RequestError)) throw error
      // The client stopped sending, so do not wait for the rest.
      if (error instanceof HttpError && error.status === 408) throw new ErrorWithHeaders({ Connection: 'close' }, error)
      if (error.kind !== 'too-large') throw error
      throw new FormUploadError(reader.hasFile ? tooLarge() : error, reader.texts)
    }
  }
}

/** Forms read concurrently while their clients send. A single fast client can already saturate the disk. */
const MAX_CONCURRENT_FORMS = 8

/** Uploaded bytes between two garbage collections of used chunks. */
const BYTES_PER_COLLECTION = 8 * 1024 * 1024

type FormReaderOptions = {
  readonly maxBytes: number
  readonly throttle: ThrottleOptions
  readonly createValidator: () => FileValidator
  readonly maxParts: number
}

/** Reads a multipart form: texts into memory, the file as a stream into temporary storage. */
class FormReader {
  readonly #texts = new Map<string, string>()
  #hasFile = false
  #file: ReceivedFile | undefined
  #fileError: RequestError | undefined

  constructor(
    private readonly ctx: EndpointContext,
    private readonly files: FileStore,
    private readonly options: FormReaderOptions,
  ) {}

  get texts(): ReadonlyMap<string, string> {
    return this.#texts
  }

  get hasFile(): boolean {
    return this.#hasFile
  }

  /**
   * Accepts parts in any order. After an error, the temporary file is discarded; the rest of the request is still unread.
   * @throws RequestError malformed, too-large; HttpError 408; StoreUnavailable
   */
  async read(): Promise<UploadForm> {
    const { req } = this.ctx
    const { maxBytes, throttle } = this.options
    const throttledBody = new UploadThrottle(req, throttle)
    let reading = Promise.resolve()
    try {
      const parse = () => (reading = this.#readParts(req.pipe(throttledBody)))
      await readWithLimits(this.ctx, maxBytes, parse, { inMemory: false })
      return { texts: this.#texts, file: this.#file, fileError: this.#fileError }
    } catch (error) {
      throttledBody.destroy()
      // Report the form's error.
      await reading.catch(() => undefined)
      // The garbage collector removes the temporary file later.
      await this.#file?.incoming.discard().catch(() => undefined)
      throw error
    }
  }

  async #readParts(body: AsyncIterable<Buffer>): Promise<void> {
    for await (const part of readParts(body, this.ctx.get('Content-Type'), this.options.maxParts)) {
      const { name, isFile } = part
      if (this.#texts.has(name) || (name === 'file' && this.#hasFile)) throw repeatedPart(name.slice(0, 60))
      if (name === 'file' && isFile) {
        this.#hasFile = true
        this.#file = await this.#receive(part)
      } else if (isFile) {
        // The content is discarded, but the name is validated.
        this.#texts.set(name, '')
      } else this.#addText(name, decodeText(part, await readContent(part, TEXT_MAX_BYTES)))
    }
  }

  #addText(name: string, value: string): void {
    if (name !== 'file') this.#texts.set(name, value)
    else if (value !== '') this.#fileError = new RequestError('invalid', [FILE_SENT_AS_TEXT])
  }

  /**
   * After an invalid file, keeps reading without storing it, so that later parts are validated too.
   * @returns false once the file was rejected
   * @throws RequestError too-large
   */
  #isAccepted(validate: () => void): boolean {
    try {
      if (this.#fileError === undefined) validate()
    } catch (error) {
      if (!(error instanceof RequestError) || error.kind === 'too-large') throw error
      this.#fileError = error
    }
    return this.#fileError === undefined
  }

  /** @returns undefined for a rejected file, and for the empty part that a browser sends if no file was chosen */
  async #receive({ content, filename = '' }: Part): Promise<ReceivedFile | undefined> {
    const validator = this.options.createValidator()
    const incoming = await this.files.receive()
    try {
      for await (const chunk of content) {
        if (this.#isAccepted(() => validator.update(chunk))) await incoming.write(chunk)
      }
      const isEmptyPart = validator.bytes === 0 && filename === ''
      if (!isEmptyPart && this.#isAccepted(() => validator.finish()))
        return { incoming, name: safeFileName(decodeEncodedWords(filename)) }
      await incoming.discard()
      return undefined
    } catch (error) {
      await incoming.discard()
      throw error
    }
  }
}

const MAX_PARTS = 20

const repeatedPart = (name: string) =>
  new RequestError('malformed', [
    { pointer: `/${name}`, message: `${name} must be given only once`, code: 'duplicate' },
  ])

/** Longer than every valid text. */
const TEXT_MAX_BYTES = 1_024

/** The error for a file part without a file name. */
const FILE_SENT_AS_TEXT: ErrorDetail = {
  pointer: '/file',
  message: 'file must be sent as a file: with a filename in its Content-Disposition',
  code: 'type',
}

/** Validates a file while it is streamed. */
interface FileValidator {
  /** Bytes seen so far. */
  readonly bytes: number
  /** @throws RequestError as soon as the file is invalid; too-large as soon as it exceeds the limit */
  update(chunk: Buffer): void
  /** @throws RequestError if the file is incomplete */
  finish(): void
}

/** Checks only the size of a file, whose content is inspected once the upload is complete. */
export class SizeValidator implements FileValidator {
  bytes = 0

  /** @param empty the error for a file without content */
  constructor(
    private readonly maxBytes: number,
    private readonly tooLarge: () => RequestError,
    private readonly empty: () => RequestError,
  ) {}

  update(chunk: Buffer): void {
    this.bytes += chunk.length
    if (this.bytes > this.maxBytes) throw this.tooLarge()
  }

  finish(): void {
    if (this.bytes === 0) throw this.empty()
  }
}

/** The kind of file that a form accepts. */
export type FileUploadRule = {
  readonly maxBytes: number
  readonly createValidator: () => FileValidator
  /** The error if the declared Content-Length is too large, or the form is too large because of its file. */
  readonly tooLarge: () => RequestError
  /** Default: 20. */
  readonly maxParts?: number
}

export type UploadForm = {
  readonly texts: ReadonlyMap<string, string>
  readonly file: ReceivedFile | undefined
  /** The error in the file. The texts are complete nevertheless. */
  readonly fileError: RequestError | undefined
}

/** Reads a urlencoded form, which cannot contain a file. @throws RequestError malformed, too-large; HttpError 408, 415 */
export async function readUrlencodedForm(ctx: EndpointContext): Promise<UploadForm> {
  const texts = new Map<string, string>()
  for (const [name, value] of Object.entries((await readUrlencoded(ctx)) ?? {})) {
    if (typeof value !== 'string') throw repeatedPart(name.slice(0, 60))
    texts.set(name, value)
  }
  const isFileText = (texts.get('file') ?? '') !== ''
  texts.delete('file')
  return {
    texts,
    file: undefined,
    fileError: isFileText ? new RequestError('invalid', [FILE_SENT_AS_TEXT]) : undefined,
  }
}

const readUrlencoded = bodyReader({
  urlencoded: true,
  queryString: formOptions('once'),
  encoding: 'latin1',
  maxBytes: DEFAULT_BODY_MAX_BYTES,
  defaultType: 'application/x-www-form-urlencoded',
})

/** Bytes allowed in addition to the file: texts, headers, boundaries. */
export const FORM_OVERHEAD_BYTES = 64 * 1024

/** A form that was rejected before its end, with the texts received until then. */
export class FormUploadError extends Error {
  constructor(
    readonly refusal: RequestError,
    readonly texts: ReadonlyMap<string, string>,
  ) {
    super(refusal.message, { cause: refusal })
  }
}

/** For forms whose texts do not matter once they were rejected. @throws RequestError in place of FormUploadError */
export function throwRefusal(error: unknown): never {
  throw error instanceof FormUploadError ? error.refusal : error
}

/**
 * Decodes encoded words (RFC 2047), which some clients use for file names in forms. A word with an unknown charset is
 * unchanged.
 */
export const decodeEncodedWords = (text: string): string =>
  text
    .replaceAll(BLANKS_BETWEEN_WORDS, '')
    .replaceAll(ENCODED_WORD, (word, charset: string, encoding: string, encoded: string) => {
      const bytes = encoding.toLowerCase() === 'b' ? Buffer.from(encoded, 'base64') : decodeQuotedPrintable(encoded)
      return decodeCharset(bytes, charset) ?? word
    })

/** White space between two adjacent encoded words is ignored (RFC 2047, section 6.2). */
const BLANKS_BETWEEN_WORDS = /(?<=\?=)\s+(?==\?[\w-]+(?:\*[\w-]*)?\?[bq]\?)/gi

/** `=?UTF-8?B?UHLDvGY=?=`, `=?iso-8859-1?q?Pr=FCf?=`; a language may follow the charset. */
const ENCODED_WORD = /=\?([\w-]{1,40})(?:\*[\w-]*)?\?([bq])\?([^?\s]*)\?=/gi

/** Decodes the `Q` encoding (RFC 2047, section 4.2). */
function decodeQuotedPrintable(encoded: string): Buffer {
  const latin = encoded
    .replaceAll('_', ' ')
    .replaceAll(/=([0-9a-f]{2})/gi, (_found, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(latin, 'latin1')
}
