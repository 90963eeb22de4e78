import { createHash, randomUUID } from 'node:crypto'
import { open, rename, utimes, unlink, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Incoming, Kept } from '../ports/files.ts'
import { available, ifThere } from './failure.ts'
import { makeFolderOf, syncFolder, type Places } from './places.ts'
import { markedNow, type Touching } from '../touching.ts'

/** What the uploads of a folder share. */
export type Shared = {
  readonly places: Places
  readonly touching: Touching
  /** Open files, to be closed with the folder. */
  readonly handles: Set<FileHandle>
}

const touched = (handle: FileHandle) => {
  const now = markedNow()
  return handle.utimes(now, now)
}

/** One upload, in a file that nobody sees yet. */
export class IncomingFile implements Incoming {
  readonly #hash = createHash('sha256')
  #bytes = 0
  #done = false
  readonly #stopTouching: () => void

  constructor(
    private readonly path: string,
    private readonly handle: FileHandle,
    private readonly shared: Shared,
  ) {
    shared.handles.add(handle)
    this.#stopTouching = shared.touching.hold((now) => handle.utimes(now, now))
  }

  async write(chunk: Uint8Array): Promise<void> {
    await available(() => writeAll(this.handle, chunk))
    this.#hash.update(chunk)
    this.#bytes += chunk.length
  }

  /** Renamed over a file of the same digest: the same bytes, touched now. It stays open, to be put back if need be. */
  async keep(): Promise<Kept> {
    const { places, touching } = this.shared
    const digest = this.#hash.digest('hex')
    const file = places.fileOf(digest)
    await available(async () => {
      await touched(this.handle)
      await this.handle.sync()
      await makeFolderOf(file)
      await rename(this.path, file)
    })
    this.#done = true
    this.#stopTouching()
    const stopTouching = touching.hold((now) => utimes(file, now, now))
    const release = () => {
      stopTouching()
      // The file is durable: nothing depends on how its handle ends.
      this.#close().catch(() => undefined)
    }
    try {
      await available(() => syncFolder(dirname(file)))
    } catch (error) {
      release()
      throw error
    }
    return { digest, bytes: this.#bytes, ensure: () => available(() => this.#ensure(file)), release }
  }

  async #ensure(file: string): Promise<void> {
    const now = markedNow()
    const isThere = await ifThere(() => utimes(file, now, now).then(() => true))
    if (isThere !== true) await this.#putBack(file)
  }

  /** What is open can still be read, though nothing names it any more. */
  async #putBack(file: string): Promise<void> {
    const path = join(this.shared.places.incoming, randomUUID())
    const copy = await open(path, 'wx', 0o600)
    try {
      await copyBytes(this.handle, copy)
      await copy.sync()
    } finally {
      await copy.close()
    }
    await makeFolderOf(file)
    await rename(path, file)
    await syncFolder(dirname(file))
  }

  async discard(): Promise<void> {
    if (this.#done) return
    this.#done = true
    this.#stopTouching()
    await this.#close()
    await ifThere(() => unlink(this.path))
  }

  /** Once: a handle that is closed has a number that another file may have got. */
  async #close(): Promise<void> {
    if (this.shared.handles.delete(this.handle)) await this.handle.close()
  }
}

/** Bytes that are copied at once. */
const CHUNK = 256 * 1024

async function copyBytes(from: FileHandle, to: FileHandle): Promise<void> {
  const buffer = Buffer.alloc(CHUNK)
  for (let position = 0; ;) {
    const { bytesRead } = await from.read(buffer, 0, CHUNK, position)
    if (bytesRead === 0) return
    await writeAll(to, buffer.subarray(0, bytesRead))
    position += bytesRead
  }
}

/** A full disk may take a part of what it is given. */
async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    written += (await handle.write(bytes, written, bytes.length - written)).bytesWritten
  }
}
