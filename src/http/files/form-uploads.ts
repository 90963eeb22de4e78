import type { IncomingMessage } from 'node:http'
import { networkOf } from '../../credentials/network.ts'
import { Refusal } from '../../domain/refusal.ts'
import { FairSemaphore } from '../../runtime/fairness/fair-semaphore.ts'
import type { Files } from '../../stores/ports/files.ts'
import { allowanceOf, discardRest, refuseEncoding } from '../kit/body.ts'
import { RefusedWith } from '../kit/errors.ts'
import type { Bounds } from './body-pump.ts'
import { ChunkGarbage } from './chunk-garbage.ts'
import type { FileRule } from './file-check.ts'
import { FormReader } from './form-reader.ts'
import type { Form } from './form.ts'

/** Bytes that a form may have around its file: texts, headers, boundaries. */
export const AROUND = 64 * 1024

/** Forms that are read at a time, as long as their clients send: one alone already sends as fast as a disk writes. */
const AT_ONCE = 8

/** Bytes of uploads between two collections of the chunks that they have left behind. */
const GARBAGE = 8 * 1024 * 1024

/** Milliseconds without a byte after which a client counts as gone. */
const STALL = 30_000

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
  readonly #bounds: Pick<Bounds, 'stall' | 'senders' | 'garbage'>

  constructor(
    private readonly files: Files,
    stall = STALL,
  ) {
    this.#bounds = { stall, senders: new FairSemaphore(AT_ONCE), garbage: new ChunkGarbage(GARBAGE) }
  }

  /**
   * Reads a multipart form as a stream, its file straight into the files' temporary place. Whoever gets a file discards it,
   * unless it was kept.
   * @throws FormRefused for one that is too large; Refusal malformed, too-slow; StoreUnavailable
   */
  async read(req: IncomingMessage, { account, address }: Uploader, rule: FileRule): Promise<Form> {
    refuseEncoding(req)
    refuseLength(req, rule)
    const { leastPace } = allowanceOf(req)
    const waiter = { names: [`address ${networkOf(address)}`, `account ${account}`], first: false }
    const bounds = { ...this.#bounds, limit: rule.limit + AROUND, leastPace, waiter }
    const reader = new FormReader(req, this.files, bounds, rule.check)
    try {
      return await reader.read()
    } catch (error) {
      discardRest(req)
      if (!(error instanceof Refusal)) throw error
      // Whoever sends nothing more does not read the rest of its own request either.
      if (error.kind === 'too-slow') throw new RefusedWith({ Connection: 'close' }, error)
      throw error.kind === 'too-large' ? new FormRefused(error, reader.texts) : error
    }
  }
}

function refuseLength(req: IncomingMessage, { limit, tooLarge }: FileRule): void {
  if (Number(req.headers['content-length'] ?? 0) <= limit + AROUND) return
  discardRest(req)
  throw tooLarge()
}
