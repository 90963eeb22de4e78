import type { Context } from 'koa'
import { networkOf } from '../../credentials/guess-limits.ts'
import { Refusal } from '../../domain/refusal.ts'
import { FairSemaphore } from '../../runtime/fairness/semaphores.ts'
import type { Files } from '../../stores/ports/files.ts'
import { discardRest, refuseEncoding } from '../kit/body.ts'
import { RefusedWith } from '../kit/errors.ts'
import { ChunkGarbage } from './chunk-garbage.ts'
import type { FileRule } from './file-check.ts'
import { FormReader } from './form-reader.ts'
import type { Form } from './form.ts'
import type { ThrottleOptions } from './upload-throttle.ts'

/** Bytes that a form may have around its file: texts, headers, boundaries. */
export const AROUND = 64 * 1024

/** Forms that are read at a time, as long as their clients send: one alone already sends as fast as a disk writes. */
const AT_ONCE = 8

/** Bytes of uploads between two collections of the chunks that they have left behind. */
const GARBAGE = 8 * 1024 * 1024

/** Who sends: permits go round among addresses, and among the accounts at each. */
export type Uploader = { readonly account: number; readonly address: string }

/** A form that was refused before it was read to its end, and its texts that had come. */
export class FormRefused extends Error {
  constructor(
    readonly refusal: Refusal,
    readonly texts: ReadonlyMap<string, string>,
  ) {
    super(refusal.message, { cause: refusal })
  }
}

export const isMultipart = (type: string | undefined): boolean => /^multipart\/form-data\s*(?:;|$)/i.test(type ?? '')

/** Reads the forms with files of one process, of which so many send at a time. */
export class FormUploads {
  readonly #shared: Omit<ThrottleOptions, 'waiter'> = {
    permits: new FairSemaphore(AT_ONCE),
    garbage: new ChunkGarbage(GARBAGE),
  }

  constructor(private readonly files: Files) {}

  /**
   * Reads a multipart form as a stream, its file straight into the files' temporary place. Whoever gets a file discards it,
   * unless it was kept.
   * @throws FormRefused for one that is too large; Refusal malformed, too-slow; StoreUnavailable
   */
  async read(ctx: Context, { account, address }: Uploader, { limit, check, tooLarge }: FileRule): Promise<Form> {
    const waiter = { names: [`address ${networkOf(address)}`, `account ${account}`], first: false }
    const options = { limit: limit + AROUND, throttle: { ...this.#shared, waiter }, check }
    const reader = new FormReader(ctx, this.files, options)
    try {
      refuseEncoding(ctx.req)
      if (Number(ctx.get('Content-Length')) > options.limit) throw tooLarge()
      return await reader.read()
    } catch (error) {
      discardRest(ctx.req)
      if (!(error instanceof Refusal)) throw error
      // Whoever sends nothing more does not read the rest of its own request either.
      if (error.kind === 'too-slow') throw new RefusedWith({ Connection: 'close' }, error)
      if (error.kind !== 'too-large') throw error
      throw new FormRefused(reader.hasFile ? tooLarge() : error, reader.texts)
    }
  }
}
