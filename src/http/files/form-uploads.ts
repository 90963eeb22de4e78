import busboy from 'busboy'
import type { Busboy, FileInfo } from 'busboy'
import type { Context } from 'koa'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReceivedFile } from '../../commands/certifications/certifications.ts'
import { networkOf } from '../../credentials/failed-attempt-limiter.ts'
import { sanitiseFileName } from '../../domain/certification/certification.ts'
import { RequestError, type ErrorDetail } from '../../domain/decider.ts'
import { FairSemaphore } from '../../runtime/fairness/semaphores.ts'
import type { FileStore } from '../../stores/ports/file-store.ts'
import { discardRest, readWithLimits, refuseEncoding } from '../kit/body-limits.ts'
import { ErrorWithHeaders } from '../kit/errors.ts'
import { formOptions } from '../kit/parameters/form.ts'
import { unreadableForm } from '../kit/parameters/parameters.ts'
import { bodyReader, DEFAULT_BODY_MAX_BYTES } from '../kit/read-body.ts'
import { ChunkGarbageCollector, UploadThrottle, type ThrottleOptions } from './upload-throttle.ts'

/** `=?UTF-8?B?UHLDvGY=?=`, `=?iso-8859-1?q?Pr=FCf?=`; behind the charset there may be a language. */
const WORD = /=\?([\w-]{1,40})(?:\*[\w-]*)?\?([bq])\?([^?\s]*)\?=/gi

/** Blanks between two encoded words belong to neither. */
const BLANKS_BETWEEN_WORDS = /(?<=\?=)\s+(?==\?[\w-]+(?:\*[\w-]*)?\?[bq]\?)/gi

/**
 * A text without encoded words (RFC 2047): programs that send e-mail write names of files so in forms, too. A word of an
 * unknown charset stays as it is.
 */
export const withoutEncodedWords = (text: string): string =>
  text
    .replaceAll(BLANKS_BETWEEN_WORDS, '')
    .replaceAll(WORD, (word, charset: string, encoding: string, encoded: string) => {
      const bytes = encoding.toLowerCase() === 'b' ? Buffer.from(encoded, 'base64') : quotedPrintable(encoded)
      return decodeCharset(bytes, charset) ?? word
    })

/** The `Q` encoding: RFC 2047, 4.2. */
function quotedPrintable(encoded: string): Buffer {
  const latin = encoded
    .replaceAll('_', ' ')
    .replaceAll(/=([0-9a-f]{2})/gi, (_found, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(latin, 'latin1')
}

function decodeCharset(bytes: Buffer, charset: string): string | undefined {
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    // An unknown charset.
    return undefined
  }
}

/** A text is at most a laboratory or a number; what is longer is refused by its value. */
const LIMITS = { fieldNameSize: 100, fieldSize: 1_024, parts: 20, headerPairs: 50 }

/** Bytes that the parser and a file's stream hold each: as much as on Node 20, where Node's own 64 KiB were 16. */
const BUFFER_BYTES = 16 * 1024

export type FormReaderOptions = {
  /** Bytes of the whole form at most. */
  readonly maxBytes: number
  readonly throttle: ThrottleOptions
  readonly createValidator: () => FileValidator
}

/** Reads one multipart form: its texts into memory, its file as it comes into the temporary place. */
class FormReader {
  readonly #texts = new Map<string, string>()
  #file: Promise<ReceivedFile | undefined> | undefined
  #fileRefusal: RequestError | undefined
  readonly #failed = Promise.withResolvers<never>()
  readonly #fail = this.#failed.reject

  constructor(
    private readonly ctx: Context,
    private readonly files: FileStore,
    private readonly options: FormReaderOptions,
  ) {}

  /** Those that have come so far. */
  get texts(): ReadonlyMap<string, string> {
    return this.#texts
  }

  /** Whether its file has begun. */
  get hasFile(): boolean {
    return this.#file !== undefined
  }

  /**
   * Parts may come in any order. After a refusal nothing of the form is left, but the request's rest is not read.
   * @throws Refusal malformed, too-large, too-slow; StoreUnavailable
   */
  async read(): Promise<UploadForm> {
    const { req } = this.ctx
    const { maxBytes, throttle } = this.options
    // Nobody waits for it where the body is refused by its head.
    this.#failed.promise.catch(() => undefined)
    const parser = this.#parser()
    this.#listen(parser)
    const throttled = new UploadThrottle(req, throttle)
    try {
      const parse = () => Promise.race([pipeline(req.pipe(throttled), parser), this.#failed.promise])
      await readWithLimits(this.ctx, maxBytes, parse, { inMemory: false })
      return { texts: this.#texts, file: await this.#file, fileRefusal: this.#fileRefusal }
    } catch (error) {
      throttled.destroy()
      parser.destroy()
      // What can't be discarded is a leftover, which the collector removes; the form's own fault is what is told.
      await this.#file?.then((file) => file?.incoming.discard()).catch(() => undefined)
      throw error
    }
  }

  #parser(): Busboy {
    try {
      const held = { highWaterMark: BUFFER_BYTES, fileHwm: BUFFER_BYTES }
      return busboy({
        headers: this.ctx.req.headers,
        defParamCharset: 'utf8',
        limits: LIMITS,
        preservePath: true,
        ...held,
      })
    } catch (error) {
      throw unreadableForm(error)
    }
  }

  #listen(parser: Busboy): void {
    parser.on('error', (error) => this.#fail(unreadableForm(error)))
    parser.on('field', (name, value) => this.#addText(name, value))
    parser.on('file', (name, stream, info) => this.#takeFile(name, stream, info))
    parser.on('partsLimit', () =>
      this.#fail(new RequestError('malformed', `The form may have at most ${LIMITS.parts} parts`)),
    )
  }

  #addText(name: string, value: string): void {
    if (this.#isRepeated(name)) return
    if (name !== 'file') this.#texts.set(name, value)
    else if (value !== '') this.#fileRefusal = new RequestError('invalid', [FILE_SENT_AS_TEXT])
  }

  /** A file under another name says nothing that could be read; its name is judged with those of the texts. */
  #takeFile(name: string, stream: Readable, { filename }: Partial<FileInfo>): void {
    // When the form is given up, its file fails too, whoever reads it: the form has said why.
    stream.on('error', () => undefined)
    const again = this.#isRepeated(name)
    if (again || name !== 'file') {
      if (!again) this.#texts.set(name, '')
      stream.resume()
      return
    }
    this.#file = this.#receive(stream, filename)
    this.#file.catch((error: unknown) => this.#fail(error))
  }

  #isRepeated(name: string): boolean {
    const before = this.#texts.has(name) || (name === 'file' && this.hasFile)
    if (before) this.#fail(repeatedPart(name.slice(0, 60)))
    return before
  }

  /**
   * What is no such file is read on for the sake of what comes behind it, and forgotten; what is too large is not.
   * @returns false once the file was refused
   */
  #isAccepted(validator: () => void): boolean {
    try {
      if (this.#fileRefusal === undefined) validator()
    } catch (error) {
      if (!(error instanceof RequestError) || error.kind === 'too-large') throw error
      this.#fileRefusal = error
    }
    return this.#fileRefusal === undefined
  }

  /** @returns undefined for the empty part that a browser sends where no file was chosen */
  async #receive(stream: Readable, filename: string | undefined): Promise<ReceivedFile | undefined> {
    const validator = this.options.createValidator()
    const incoming = await this.files.receive()
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        if (this.#isAccepted(() => validator.update(chunk))) await incoming.write(chunk)
      }
      const isNone = validator.bytes === 0 && filename === undefined
      if (!isNone && this.#isAccepted(() => validator.finish()))
        return { incoming, name: sanitiseFileName(filename && withoutEncodedWords(filename)) }
      await incoming.discard()
      return undefined
    } catch (error) {
      await incoming.discard()
      throw error
    }
  }
}

/** Looks at a form's file while it flows by. */
export interface FileValidator {
  /** Those that were taken. */
  readonly bytes: number
  /** @throws Refusal as soon as it can't be what is asked for; too-large with the first byte over the limit */
  update(chunk: Buffer): void
  /** @throws Refusal for what is not whole */
  finish(): void
}

/** Which files a form may have. */
export type FileUploadRule = {
  /** Bytes at most. */
  readonly maxBytes: number
  readonly createValidator: () => FileValidator
  /** What a form is refused with that says itself that it has more, or whose file is what makes it too large. */
  readonly tooLarge: () => RequestError
}

export type UploadForm = {
  readonly texts: ReadonlyMap<string, string>
  readonly file: ReceivedFile | undefined
  /** What is wrong with the file; what the texts say is read all the same. */
  readonly fileRefusal: RequestError | undefined
}

/** What a file's part is where it has no file name. */
const FILE_SENT_AS_TEXT: ErrorDetail = {
  pointer: '/file',
  message: 'file must be sent as a file: with a filename in its Content-Disposition',
}

/** @param name as it is told to the caller */
const repeatedPart = (name: string) =>
  new RequestError('malformed', [{ pointer: `/${name}`, message: `${name} may stand once in the form` }])

const readUrlencoded = bodyReader({
  urlencoded: true,
  queryString: formOptions('once'),
  encoding: 'latin1',
  maxBytes: DEFAULT_BODY_MAX_BYTES,
  defaultType: 'application/x-www-form-urlencoded',
})

/** Reads a urlencoded form, which has texts alone. @throws Refusal malformed, too-large, too-slow, unsupported */
export async function readUrlencodedForm(ctx: Context): Promise<UploadForm> {
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
    fileRefusal: isFileText ? new RequestError('invalid', [FILE_SENT_AS_TEXT]) : undefined,
  }
}

/** Bytes that a form may have around its file: texts, headers, boundaries. */
export const FORM_OVERHEAD_BYTES = 64 * 1024

/** Forms that are read at a time, as long as their clients send: one alone already sends as fast as a disk writes. */
const MAX_CONCURRENT_FORMS = 8

/** Bytes of uploads between two collections of the chunks that they have left behind. */
const BYTES_PER_COLLECTION = 8 * 1024 * 1024

/** Who sends: permits go round among addresses, and among the accounts at each. */
export type Uploader = { readonly account: number; readonly address: string }

/** A form that was refused before it was read to its end, and its texts that had come. */
export class FormUploadError extends Error {
  constructor(
    readonly refusal: RequestError,
    readonly texts: ReadonlyMap<string, string>,
  ) {
    super(refusal.message, { cause: refusal })
  }
}

export const isMultipart = (type: string | undefined): boolean => /^multipart\/form-data\s*(?:;|$)/i.test(type ?? '')

/** Reads the forms with files of one process, of which so many send at a time. */
export class FormUploads {
  readonly #shared: Omit<ThrottleOptions, 'waiter'> = {
    permits: new FairSemaphore(MAX_CONCURRENT_FORMS),
    garbageCollector: new ChunkGarbageCollector(BYTES_PER_COLLECTION),
  }

  constructor(private readonly files: FileStore) {}

  /**
   * Reads a multipart form as a stream, its file straight into the files' temporary place. Whoever gets a file discards it,
   * unless it was kept.
   * @throws FormRefused for one that is too large; Refusal malformed, too-slow; StoreUnavailable
   */
  async read(
    ctx: Context,
    { account, address }: Uploader,
    { maxBytes, createValidator, tooLarge }: FileUploadRule,
  ): Promise<UploadForm> {
    const waiter = { names: [`address ${networkOf(address)}`, `account ${account}`], first: false }
    const options = { maxBytes: maxBytes + FORM_OVERHEAD_BYTES, throttle: { ...this.#shared, waiter }, createValidator }
    const reader = new FormReader(ctx, this.files, options)
    try {
      refuseEncoding(ctx.req)
      if (Number(ctx.get('Content-Length')) > options.maxBytes) throw tooLarge()
      return await reader.read()
    } catch (error) {
      discardRest(ctx.req)
      if (!(error instanceof RequestError)) throw error
      // Whoever sends nothing more does not read the rest of its own request either.
      if (error.kind === 'too-slow') throw new ErrorWithHeaders({ Connection: 'close' }, error)
      if (error.kind !== 'too-large') throw error
      throw new FormUploadError(reader.hasFile ? tooLarge() : error, reader.texts)
    }
  }
}
