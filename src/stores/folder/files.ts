import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { link, open, readdir, readFile, rename, unlink, utimes, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  UPLOAD_ABANDONED_AFTER_MS,
  type FileStore,
  type FileUpload,
  type StoredFile,
  type TemporaryFile,
  type FileEntry,
} from '../ports/file-store.ts'
import { uniqueTouchTimeSeconds, FileKeepAlive } from '../file-keep-alive.ts'
import {
  mapFileSystemErrors,
  codeOf,
  DIGEST,
  ifExists,
  makeFolderOf,
  readTouchToken,
  layoutOf,
  syncFolder,
  type DirectoryLayout,
} from './directory-layout.ts'

/**
 * Created by the first process. The file is written completely under another name and linked, so no process reads a
 * part of it.
 */
async function readOrCreateIdentity({ folder, incoming }: DirectoryLayout): Promise<string> {
  const file = join(folder, 'identity')
  const known = await ifExists(() => readFile(file, 'utf8'))
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
    await ifExists(() => unlink(draft))
  }
  await syncFolder(folder)
  return (await readFile(file, 'utf8')).trim()
}

const REMOVING_PREFIX = 'removing-'

/**
 * Removes a file whose touch token is still `mark`. The file is moved to `incoming/` first and its token checked again
 * there: a concurrent upload of the same content may have touched or replaced it, in which case it is restored.
 */
async function removeFile(
  places: DirectoryLayout,
  digest: string,
  mark: string,
): Promise<'removed' | 'touched' | 'missing'> {
  const file = places.pathOf(digest)
  const found = await readTouchToken(file)
  if (found !== mark) return found === undefined ? 'missing' : 'touched'
  const movedPath = join(places.incoming, `${REMOVING_PREFIX}${digest}-${randomUUID()}`)
  if (!(await done(() => rename(file, movedPath)))) return 'missing'
  if ((await readTouchToken(movedPath)) === mark) return (await done(() => unlink(movedPath))) ? 'removed' : 'touched'
  await restoreFile(places, movedPath, digest)
  return 'touched'
}

async function* listTemporaryFiles({ incoming }: DirectoryLayout): AsyncIterable<TemporaryFile> {
  for (const name of await mapFileSystemErrors(() => readdir(incoming))) {
    const mark = await mapFileSystemErrors(() => readTouchToken(join(incoming, name)))
    if (mark !== undefined)
      yield { name, touchToken: mark, abandonedAfterMs: UPLOAD_ABANDONED_AFTER_MS, ...parseInterruptedRemoval(name) }
  }
}

/**
 * Deletes an abandoned upload. Restores the file of an interrupted removal, because its token may not have been checked
 * again.
 */
async function removeTemporaryFile(places: DirectoryLayout, { name, touchToken }: TemporaryFile): Promise<boolean> {
  const path = join(places.incoming, name)
  if ((await readTouchToken(path)) !== touchToken) return false
  const { restoredDigest } = parseInterruptedRemoval(name)
  if (restoredDigest === undefined) return done(() => unlink(path))
  await restoreFile(places, path, restoredDigest)
  return false
}

const parseInterruptedRemoval = (name: string): Pick<TemporaryFile, 'restoredDigest'> =>
  name.startsWith(REMOVING_PREFIX)
    ? { restoredDigest: name.slice(REMOVING_PREFIX.length, REMOVING_PREFIX.length + 64) }
    : {}

async function restoreFile(places: DirectoryLayout, movedPath: string, digest: string): Promise<void> {
  const file = places.pathOf(digest)
  await makeFolderOf(file)
  try {
    await link(movedPath, file)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return
    // A newer upload of the same content exists already.
    if (codeOf(error) !== 'EEXIST') throw error
  }
  await ifExists(() => unlink(movedPath))
}

/** @returns false if the file does not exist */
const done = async (action: () => Promise<void>): Promise<boolean> =>
  (await ifExists(() => action().then(() => true))) ?? false

export type UploadContext = {
  readonly layout: DirectoryLayout
  readonly keepAlive: FileKeepAlive
  readonly handles: Set<FileHandle>
}

const touchHandle = (handle: FileHandle) => {
  const now = uniqueTouchTimeSeconds()
  return handle.utimes(now, now)
}

class DirectoryFileUpload implements FileUpload {
  readonly #hash = createHash('sha256')
  #bytes = 0
  #done = false
  readonly #stopKeepAlive: () => void

  constructor(
    private readonly path: string,
    private readonly handle: FileHandle,
    private readonly shared: UploadContext,
  ) {
    shared.handles.add(handle)
    this.#stopKeepAlive = shared.keepAlive.hold((now) => handle.utimes(now, now))
  }

  async write(chunk: Uint8Array): Promise<void> {
    await mapFileSystemErrors(() => writeAll(this.handle, chunk))
    this.#hash.update(chunk)
    this.#bytes += chunk.length
  }

  /**
   * Renamed over an existing file of the same digest: same content, new touch token. The handle stays open in case the
   * file must be restored.
   */
  async keep(): Promise<StoredFile> {
    const { layout, keepAlive } = this.shared
    const digest = this.#hash.digest('hex')
    const file = layout.pathOf(digest)
    await mapFileSystemErrors(async () => {
      await touchHandle(this.handle)
      await this.handle.sync()
      await makeFolderOf(file)
      await rename(this.path, file)
    })
    this.#done = true
    this.#stopKeepAlive()
    const stopTouching = keepAlive.hold((now) => utimes(file, now, now))
    const release = () => {
      stopTouching()
      // The file is durable, so a failed close does not matter.
      this.#close().catch(() => undefined)
    }
    try {
      await mapFileSystemErrors(() => syncFolder(dirname(file)))
    } catch (error) {
      release()
      throw error
    }
    return { digest, bytes: this.#bytes, ensureStored: () => mapFileSystemErrors(() => this.#ensure(file)), release }
  }

  async #ensure(file: string): Promise<void> {
    const now = uniqueTouchTimeSeconds()
    const isThere = await ifExists(() => utimes(file, now, now).then(() => true))
    if (isThere !== true) await this.#putBack(file)
  }

  /** An open handle still reads the content after the file was unlinked. */
  async #putBack(file: string): Promise<void> {
    const path = join(this.shared.layout.incoming, randomUUID())
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
    this.#stopKeepAlive()
    await this.#close()
    await ifExists(() => unlink(this.path))
  }

  /** At most once: after a close, the descriptor's number may belong to another file. */
  async #close(): Promise<void> {
    if (this.shared.handles.delete(this.handle)) await this.handle.close()
  }
}

/** Bytes copied per read. */
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

/** On a full disk, a write may store only part of the buffer. */
async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    written += (await handle.write(bytes, written, bytes.length - written)).bytesWritten
  }
}

/**
 * Stores files in a folder as `ab/cd/{digest}`. An upload is written to `incoming/`, synced and renamed; then its
 * folder is synced. Several processes may share the folder.
 */
export function openDirectoryFileStore(folder: string): FileStore {
  const places = layoutOf(folder)
  mkdirSync(places.incoming, { recursive: true })
  const touching = new FileKeepAlive()
  const handles = new Set<FileHandle>()
  return {
    identity: () => mapFileSystemErrors(() => readOrCreateIdentity(places)),
    receive: () =>
      mapFileSystemErrors(async () => {
        const path = join(places.incoming, randomUUID())
        return new DirectoryFileUpload(path, await open(path, 'wx+', 0o600), {
          layout: places,
          keepAlive: touching,
          handles,
        })
      }),
    read: (digest, range) =>
      mapFileSystemErrors(async () => {
        const handle = await ifExists(() => open(places.pathOf(digest), 'r'))
        return handle?.createReadStream(range)
      }),
    list: () => listFiles(places),
    readTouchToken: (digest) => mapFileSystemErrors(() => readTouchToken(places.pathOf(digest))),
    remove: (digest, mark) => mapFileSystemErrors(() => removeFile(places, digest, mark)),
    temporaryFiles: () => listTemporaryFiles(places),
    removeTemporaryFile: (leftover) => mapFileSystemErrors(() => removeTemporaryFile(places, leftover)),
    async close() {
      touching.stop()
      await Promise.all([...handles].map((handle) => handle.close()))
      handles.clear()
    },
  }
}

/** One directory at a time, so that only one directory's names are in memory. */
async function* listFiles(places: DirectoryLayout): AsyncIterable<FileEntry> {
  for (const first of await foldersIn(places.folder)) {
    for (const second of await foldersIn(join(places.folder, first))) {
      for (const digest of await readdir(join(places.folder, first, second))) {
        if (!DIGEST.test(digest)) continue
        const mark = await readTouchToken(places.pathOf(digest))
        if (mark !== undefined) yield { digest, touchToken: mark }
      }
    }
  }
}

const foldersIn = async (folder: string) => (await readdir(folder)).filter((name) => /^[0-9a-f]{2}$/.test(name))
