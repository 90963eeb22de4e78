import { createHash } from 'node:crypto'
import { ObjectId } from 'mongodb'
import { WRITE } from '../connection.ts'
import { StoreUnavailable } from '../../ports/event-store.ts'
import type { Incoming, Kept } from '../../ports/files.ts'
import { isDuplicate } from '../failure.ts'
import { markedNow, type Touching } from '../../touching.ts'
import { CHUNK, type FileCall } from './collections.ts'
import { GONE } from './removal.ts'

/** One upload: chunks of a file that nobody sees yet. */
export class IncomingFile implements Incoming {
  readonly #id: ObjectId
  readonly #hash = createHash('sha256')
  #pending: Uint8Array[] = []
  #pendingBytes = 0
  #bytes = 0
  #chunks = 0
  #kept = false
  readonly #stopTouching: () => void

  private constructor(
    id: ObjectId,
    private readonly call: FileCall,
    private readonly touching: Touching,
  ) {
    this.#id = id
    this.#stopTouching = touching.hold((now) => touchUpload(call, id, now * 1000))
  }

  static async begin(call: FileCall, touching: Touching): Promise<IncomingFile> {
    const _id = new ObjectId()
    await call(({ uploads }) => uploads.insertOne({ _id, touched: markedNow() * 1000 }), WRITE)
    return new IncomingFile(_id, call, touching)
  }

  /** Holds less than two chunks in memory. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#hash.update(bytes)
    this.#bytes += bytes.length
    for (let from = 0; from < bytes.length;) {
      const part = bytes.subarray(from, from + CHUNK - this.#pendingBytes)
      this.#pending.push(part)
      this.#pendingBytes += part.length
      from += part.length
      if (this.#pendingBytes === CHUNK) await this.#flush()
    }
  }

  async #flush(): Promise<void> {
    const data = Buffer.concat(this.#pending)
    this.#pending = []
    this.#pendingBytes = 0
    await this.call(({ chunks }) => chunks.insertOne({ files_id: this.#id, n: this.#chunks++, data }), WRITE)
  }

  /**
   * The file's document makes it visible, in one insert. Whoever took this upload for abandoned has inserted one under
   * its id before (removal.ts), and then the upload has failed.
   */
  async keep(): Promise<Kept> {
    if (this.#pendingBytes > 0) await this.#flush()
    const digest = this.#hash.digest('hex')
    const file = { _id: this.#id, length: this.#bytes, chunkSize: CHUNK, filename: digest }
    const kept = { ...file, uploadDate: new Date(), metadata: { touched: markedNow() * 1000 } }
    try {
      await this.call(({ files }) => files.insertOne(kept), WRITE)
    } catch (error) {
      if (!isDuplicate(error)) throw error
      throw new StoreUnavailable('an upload took so long that it was given up', { cause: error })
    }
    this.#kept = true
    const release = this.touching.hold((seconds) => touchFile(this.call, digest, seconds * 1000))
    this.#stopTouching()
    // The note of an upload that was kept harms nothing, and the collector removes it.
    await this.call(({ uploads }) => uploads.deleteOne({ _id: this.#id }), WRITE).catch(() => undefined)
    return { digest, bytes: this.#bytes, ensure: () => this.#ensure(digest), release }
  }

  /** What a collector has taken is there as one that is gone, for a while, with all of its chunks. */
  async #ensure(digest: string): Promise<void> {
    if ((await touchFile(this.call, digest, markedNow() * 1000)).matchedCount > 0) return
    const back = { $set: { filename: digest, 'metadata.touched': markedNow() * 1000 } }
    const found = await this.call(
      ({ files }) => files.updateOne({ _id: this.#id, filename: GONE, length: this.#bytes }, back),
      WRITE,
    )
    if (found.matchedCount === 0) throw new StoreUnavailable(`the file ${digest} was collected while it was held`)
  }

  async discard(): Promise<void> {
    if (this.#kept) return
    this.#stopTouching()
    await this.call(async ({ chunks, uploads }) => {
      await chunks.deleteMany({ files_id: this.#id })
      await uploads.deleteOne({ _id: this.#id })
    }, WRITE)
  }
}

const touchUpload = (call: FileCall, _id: ObjectId, touched: number) =>
  call(({ uploads }) => uploads.updateOne({ _id }, { $set: { touched } }), WRITE)

/** Every revision: the one that was uploaded here may have given way to a newer one of the same bytes. */
const touchFile = (call: FileCall, filename: string, touched: number) =>
  call(({ files }) => files.updateMany({ filename }, { $set: { 'metadata.touched': touched } }), WRITE)
