import { createHash } from 'node:crypto'
import { rename, utimes, unlink, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Incoming, Kept } from '../files.ts'
import { available, ifThere } from './failure.ts'
import { makeFolderOf, syncFolder, type Places } from './places.ts'
import type { Touching } from '../touching.ts'

/** One upload, in a file that nobody sees yet. */
export class IncomingFile implements Incoming {
  readonly #hash = createHash('sha256')
  #bytes = 0
  #done = false
  readonly #stopTouching: () => void

  constructor(
    private readonly path: string,
    private readonly handle: FileHandle,
    private readonly places: Places,
    private readonly touching: Touching,
  ) {
    this.#stopTouching = touching.hold((now) => handle.utimes(now, now))
  }

  async write(chunk: Uint8Array): Promise<void> {
    await available(async () => {
      for (let written = 0; written < chunk.length;) {
        written += (await this.handle.write(chunk, written, chunk.length - written)).bytesWritten
      }
    })
    this.#hash.update(chunk)
    this.#bytes += chunk.length
  }

  /** Renamed over a file of the same digest: the same bytes, touched now. */
  async keep(): Promise<Kept> {
    const digest = this.#hash.digest('hex')
    const file = this.places.fileOf(digest)
    await available(async () => {
      const now = Date.now() / 1000
      await this.handle.utimes(now, now)
      await this.handle.sync()
      await makeFolderOf(file)
      await rename(this.path, file)
    })
    await this.#close()
    const release = this.touching.hold((now) => utimes(file, now, now))
    try {
      await available(() => syncFolder(dirname(file)))
    } catch (error) {
      release()
      throw error
    }
    return { digest, bytes: this.#bytes, release }
  }

  async discard(): Promise<void> {
    if (this.#done) return
    await this.#close()
    await ifThere(() => unlink(this.path))
  }

  async #close(): Promise<void> {
    this.#done = true
    this.#stopTouching()
    await this.handle.close()
  }
}
