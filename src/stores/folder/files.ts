import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { link, open, readdir, readFile, rename, unlink, utimes, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ABANDONED, type Files, type Incoming, type Kept, type Leftover, type Listed } from '../ports/files.ts'
import { markedNow, Touching } from '../touching.ts'
import {
  available,
  codeOf,
  DIGEST,
  ifThere,
  makeFolderOf,
  markAt,
  placesIn,
  syncFolder,
  type Places,
} from './places.ts'

/** Made once, by whichever process is first; it is written whole under another name before. */
async function identityIn({ folder, incoming }: Places): Promise<string> {
  const file = join(folder, 'identity')
  const known = await ifThere(() => readFile(file, 'utf8'))
  if (known !== undefined) return known.trim()
  const draft = join(incoming, randomUUID())
  const handle = await open(draft, 'wx', 0o600)
  try {
    await handle.writeFile(`${randomUUID()}\n`)
    await handle.sync()
    await link(draft, file)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    await handle.close()
    await ifThere(() => unlink(draft))
  }
  await syncFolder(folder)
  return (await readFile(file, 'utf8')).trim()
}

const MARK = 'removing-'

/**
 * Removes a file that nobody has touched since its mark was seen. It is taken aside first and looked at again there: an
 * upload of the same report may have touched or replaced it since the first look, and then it is put back.
 */
async function removeFile(places: Places, digest: string, mark: string): Promise<'removed' | 'touched' | 'missing'> {
  const file = places.fileOf(digest)
  const found = await markAt(file)
  if (found !== mark) return found === undefined ? 'missing' : 'touched'
  const aside = join(places.incoming, `${MARK}${digest}-${randomUUID()}`)
  if (!(await done(() => rename(file, aside)))) return 'missing'
  if ((await markAt(aside)) === mark) return (await done(() => unlink(aside))) ? 'removed' : 'touched'
  await putBack(places, aside, digest)
  return 'touched'
}

/** Whatever is in the temporary place: uploads, and files that were taken aside. */
async function* leftoversIn({ incoming }: Places): AsyncIterable<Leftover> {
  for (const name of await available(() => readdir(incoming))) {
    const mark = await available(() => markAt(join(incoming, name)))
    if (mark !== undefined) yield { name, mark, patience: ABANDONED, ...takenAside(name) }
  }
}

/** Uploads go; files taken aside are put back, for whoever ended may not have looked at them again. */
async function removeLeftover(places: Places, { name, mark }: Leftover): Promise<boolean> {
  const path = join(places.incoming, name)
  if ((await markAt(path)) !== mark) return false
  const { back } = takenAside(name)
  if (back === undefined) return done(() => unlink(path))
  await putBack(places, path, back)
  return false
}

const takenAside = (name: string): Pick<Leftover, 'back'> =>
  name.startsWith(MARK) ? { back: name.slice(MARK.length, MARK.length + 64) } : {}

async function putBack(places: Places, aside: string, digest: string): Promise<void> {
  const file = places.fileOf(digest)
  await makeFolderOf(file)
  try {
    await link(aside, file)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return
    // A newer upload of the same bytes stands there already.
    if (codeOf(error) !== 'EEXIST') throw error
  }
  await ifThere(() => unlink(aside))
}

/** @returns false where the file was gone */
const done = async (action: () => Promise<void>): Promise<boolean> =>
  (await ifThere(() => action().then(() => true))) ?? false

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
class IncomingFile implements Incoming {
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

/**
 * Files in a folder, `ab/cd/{digest}`. A file is written in `incoming/`, synced, renamed to its place, and its folder
 * synced. Any number of processes may work in one folder.
 */
export function openDirectoryFiles(folder: string): Files {
  const places = placesIn(folder)
  mkdirSync(places.incoming, { recursive: true })
  const touching = new Touching()
  const handles = new Set<FileHandle>()
  return {
    identity: () => available(() => identityIn(places)),
    receive: () =>
      available(async () => {
        const path = join(places.incoming, randomUUID())
        return new IncomingFile(path, await open(path, 'wx+', 0o600), { places, touching, handles })
      }),
    read: (digest, range) =>
      available(async () => {
        const handle = await ifThere(() => open(places.fileOf(digest), 'r'))
        return handle?.createReadStream(range)
      }),
    list: () => listFiles(places),
    markOf: (digest) => available(() => markAt(places.fileOf(digest))),
    remove: (digest, mark) => available(() => removeFile(places, digest, mark)),
    leftovers: () => leftoversIn(places),
    removeLeftover: (leftover) => available(() => removeLeftover(places, leftover)),
    async close() {
      touching.stop()
      await Promise.all([...handles].map((handle) => handle.close()))
      handles.clear()
    },
  }
}

/** Folder by folder: at no time is there more than one folder's names in memory. */
async function* listFiles(places: Places): AsyncIterable<Listed> {
  for (const first of await foldersIn(places.folder)) {
    for (const second of await foldersIn(join(places.folder, first))) {
      for (const digest of await readdir(join(places.folder, first, second))) {
        if (!DIGEST.test(digest)) continue
        const mark = await markAt(places.fileOf(digest))
        if (mark !== undefined) yield { digest, mark }
      }
    }
  }
}

const foldersIn = async (folder: string) => (await readdir(folder)).filter((name) => /^[0-9a-f]{2}$/.test(name))
