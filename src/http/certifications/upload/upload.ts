import type { IncomingMessage } from 'node:http'
import { networkOf } from '../../../credentials/network.ts'
import { Refusal } from '../../../domain/refusal.ts'
import { NEW_CERTIFICATION } from '../../../representations/certification-schemas.ts'
import { fromForm, readCertification } from '../../../representations/certification.ts'
import { FairSemaphore } from '../../../runtime/fairness/fair-semaphore.ts'
import type { Files } from '../../../stores/ports/files.ts'
import type { Caller } from '../../kit/authenticate.ts'
import { allowanceOf, discardRest, refuseEncoding } from '../../kit/body.ts'
import { isJson, jsonOf } from '../../kit/json-body.ts'
import type { Body } from '../../kit/endpoint.ts'
import { RefusedWith } from '../../kit/errors.ts'
import type { Bounds } from './body-pump.ts'
import { ChunkGarbage } from './chunk-garbage.ts'
import { FormReader } from './form-reader.ts'
import { isUrlencoded, readTexts, type Form } from './form.ts'
import { FILE_LIMIT, tooLarge } from './pdf-check.ts'

/** What a form's texts or a JSON body say, and the report's file where there was one, or what is wrong with it. */
export type Upload = Omit<Form, 'texts'> & { readonly input: unknown }

/** Bytes that a form may have around its file: texts, headers, boundaries. */
const AROUND = 64 * 1024

/** Forms that are read at a time, as long as their clients send: one alone already sends as fast as a disk writes. */
const AT_ONCE = 8

/** Bytes of uploads between two collections of the chunks that they have left behind. */
const GARBAGE = 8 * 1024 * 1024

/** Milliseconds without a byte after which a client counts as gone. */
const STALL = 30_000

/** Who sends: permits go round among addresses, and among the accounts at each. */
export type Uploader = { readonly account: number; readonly address: string }

/** Reads the uploads of one process, of which so many send at a time. */
export class Uploads {
  readonly #bounds: Pick<Bounds, 'limit' | 'stall' | 'senders' | 'garbage'>

  constructor(
    private readonly files: Files,
    stall = STALL,
  ) {
    const limit = FILE_LIMIT + AROUND
    this.#bounds = { limit, stall, senders: new FairSemaphore(AT_ONCE), garbage: new ChunkGarbage(GARBAGE) }
  }

  /**
   * Reads a form as a stream, its file straight into the files' temporary place, or a body that has texts alone. Whoever
   * gets a file discards it, unless it was kept.
   * @throws Refusal unsupported, malformed, too-large, too-slow; StoreUnavailable
   */
  async read(req: IncomingMessage, uploader: Uploader): Promise<Upload> {
    const type = req.headers['content-type']
    if (type === undefined || isJson(type)) return { input: await jsonOf(req), file: undefined, refused: undefined }
    const { texts, ...rest } = await this.#formOf(type, req, uploader)
    return { input: fromForm(texts), ...rest }
  }

  #formOf(type: string, req: IncomingMessage, uploader: Uploader): Promise<Form> {
    if (isUrlencoded(type)) return readTexts(req)
    if (/^multipart\/form-data\s*(?:;|$)/i.test(type)) return this.#readMultipart(req, uploader)
    throw new Refusal('unsupported', `Content-Type must be ${MEDIA}, got ${type.slice(0, 100)}`)
  }

  async #readMultipart(req: IncomingMessage, { account, address }: Uploader): Promise<Form> {
    refuseEncoding(req)
    refuseLength(req)
    const { leastPace } = allowanceOf(req)
    const waiter = { names: [`address ${networkOf(address)}`, `account ${account}`], first: false }
    const reader = new FormReader(req, this.files, { ...this.#bounds, leastPace, waiter })
    try {
      return await reader.read()
    } catch (error) {
      discardRest(req)
      if (!(error instanceof Refusal)) throw error
      // Whoever sends nothing more does not read the rest of its own request either.
      if (error.kind === 'too-slow') throw new RefusedWith({ Connection: 'close' }, error)
      throw error.kind === 'too-large' ? withTextFaults(error, reader.texts) : error
    }
  }
}

const MEDIA = 'multipart/form-data, application/json or application/x-www-form-urlencoded'

/** A form that is not read to its end: of its texts those are judged that have come. */
function withTextFaults({ kind, faults }: Refusal, texts: ReadonlyMap<string, string>): Refusal {
  const wrong = readCertification(fromForm(texts)).faults ?? []
  return new Refusal(kind, [...faults, ...wrong.filter(({ pointer }) => texts.has(pointer?.slice(1) ?? ''))])
}

function refuseLength(req: IncomingMessage): void {
  if (Number(req.headers['content-length'] ?? 0) <= FILE_LIMIT + AROUND) return
  discardRest(req)
  throw tooLarge()
}

/** What the endpoint that takes uploads says of its body. */
export const upload: Body<Upload, { readonly certifications: { readonly uploads: Uploads } }, Caller> = {
  media: ['multipart/form-data', 'application/json', 'application/x-www-form-urlencoded', ''],
  upTo: FILE_LIMIT + AROUND,
  schema: NEW_CERTIFICATION,
  read: (req, { asker: { account }, address }, { certifications: { uploads } }) =>
    uploads.read(req, { account, address }),
  release: ({ file }) => file?.incoming.discard(),
}
