import busboy, { type Busboy, type FileInfo } from 'busboy'
import type { Context } from 'koa'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReceivedFile } from '../../commands/certifications/certifications.ts'
import { safeFileName } from '../../domain/certification/file-name.ts'
import { withoutEncodedWords } from './encoded-words.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Files } from '../../stores/ports/files.ts'
import { readWatched } from '../kit/body.ts'
import { unreadableForm } from '../kit/parameters/multipart.ts'
import { FILE_AS_TEXT, twice, type Form } from './form.ts'
import type { FileCheck } from './file-check.ts'
import { UploadThrottle, type ThrottleOptions } from './upload-throttle.ts'

/** A text is at most a laboratory or a number; what is longer is refused by its value. */
const LIMITS = { fieldNameSize: 100, fieldSize: 1_024, parts: 20, headerPairs: 50 }

/** Bytes that the parser and a file's stream hold each: as much as on Node 20, where Node's own 64 KiB were 16. */
const HELD = 16 * 1024

export type FormOptions = {
  /** Bytes of the whole form at most. */
  readonly limit: number
  readonly throttle: ThrottleOptions
  readonly check: () => FileCheck
}

/** Reads one multipart form: its texts into memory, its file as it comes into the temporary place. */
export class FormReader {
  readonly #texts = new Map<string, string>()
  #file: Promise<ReceivedFile | undefined> | undefined
  #refused: Refusal | undefined
  readonly #failed = Promise.withResolvers<never>()
  readonly #fail = this.#failed.reject

  constructor(
    private readonly ctx: Context,
    private readonly files: Files,
    private readonly options: FormOptions,
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
  async read(): Promise<Form> {
    const { req } = this.ctx
    const { limit, throttle } = this.options
    // Nobody waits for it where the body is refused by its head.
    this.#failed.promise.catch(() => undefined)
    const parser = this.#parser()
    this.#listen(parser)
    const throttled = new UploadThrottle(req, throttle)
    try {
      const parse = () => Promise.race([pipeline(req.pipe(throttled), parser), this.#failed.promise])
      await readWatched(this.ctx, limit, parse, { inMemory: false })
      return { texts: this.#texts, file: await this.#file, refused: this.#refused }
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
      const held = { highWaterMark: HELD, fileHwm: HELD }
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
    parser.on('field', (name, value) => this.#take(name, value))
    parser.on('file', (name, stream, info) => this.#takeFile(name, stream, info))
    parser.on('partsLimit', () =>
      this.#fail(new Refusal('malformed', `The form may have at most ${LIMITS.parts} parts`)),
    )
  }

  #take(name: string, value: string): void {
    if (this.#stoodBefore(name)) return
    if (name !== 'file') this.#texts.set(name, value)
    else if (value !== '') this.#refused = new Refusal('invalid', [FILE_AS_TEXT])
  }

  /** A file under another name says nothing that could be read; its name is judged with those of the texts. */
  #takeFile(name: string, stream: Readable, { filename }: Partial<FileInfo>): void {
    // When the form is given up, its file fails too, whoever reads it: the form has said why.
    stream.on('error', () => undefined)
    const again = this.#stoodBefore(name)
    if (again || name !== 'file') {
      if (!again) this.#texts.set(name, '')
      stream.resume()
      return
    }
    this.#file = this.#receive(stream, filename)
    this.#file.catch((error: unknown) => this.#fail(error))
  }

  #stoodBefore(name: string): boolean {
    const before = this.#texts.has(name) || (name === 'file' && this.hasFile)
    if (before) this.#fail(twice(name.slice(0, 60)))
    return before
  }

  /**
   * What is no such file is read on for the sake of what comes behind it, and forgotten; what is too large is not.
   * @returns false once the file was refused
   */
  #takes(check: () => void): boolean {
    try {
      if (this.#refused === undefined) check()
    } catch (error) {
      if (!(error instanceof Refusal) || error.kind === 'too-large') throw error
      this.#refused = error
    }
    return this.#refused === undefined
  }

  /** @returns undefined for the empty part that a browser sends where no file was chosen */
  async #receive(stream: Readable, filename: string | undefined): Promise<ReceivedFile | undefined> {
    const check = this.options.check()
    const incoming = await this.files.receive()
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        if (this.#takes(() => check.take(chunk))) await incoming.write(chunk)
      }
      const isNone = check.bytes === 0 && filename === undefined
      if (!isNone && this.#takes(() => check.end()))
        return { incoming, name: safeFileName(filename && withoutEncodedWords(filename)) }
      await incoming.discard()
      return undefined
    } catch (error) {
      await incoming.discard()
      throw error
    }
  }
}
