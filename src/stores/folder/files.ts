import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { link, open, readdir, readFile, rename, unlink, utimes, writeFile, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline, Transform, type Readable } from 'node:stream'
import {
  BytesMissing,
  requireLength,
  UPLOAD_ABANDONED_AFTER_MS,
  type FileReadOptions,
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
  readTouch,
  readTouchToken,
  layoutOf,
  syncFolder,
  type DirectoryLayout,
} from './directory-layout.ts'

/**
 * Stores files in a folder as `ab/cd/{digest}`. An upload is written to `incoming/`, synced and renamed; then its
 * folder is synced. Several processes may share the folder.
 */
export function openDirectoryFileStore(folder: string): FileStore {
  const layout = layoutOf(folder)
  mkdirSync(layout.incoming, { recursive: true })
  const keepAlive = new FileKeepAlive()
  const handles = new Set<FileHandle>()
  return {
    identity: () => mapFileSystemErrors(() => readOrCreateIdentity(layout)),
    receive: () =>
      mapFileSystemErrors(async () => {
        const path = join(layout.incoming, randomUUID())
        return new DirectoryFileUpload(path, await open(path, 'wx+', 0o600), {
          layout,
          keepAlive,
          handles,
        })
      }),
    readFile: (digest, options) => mapFileSystemErrors(() => readFileContent(layout, digest, options)),
    list: () => listFiles(layout),
    readTouchToken: (digest) => mapFileSystemErrors(() => readTouchToken(layout.pathOf(digest))),
    remove: (digest, touchToken) => mapFileSystemErrors(() => removeFile(layout, digest, touchToken)),
    temporaryFiles: () => listTemporaryFiles(layout),
    removeTemporaryFile: (temporaryFile) => mapFileSystemErrors(() => removeTemporaryFile(layout, temporaryFile)),
    async close() {
      keepAlive.stop()
      await Promise.all([...handles].map((handle) => closeOnce(handle, handles)))
    },
  }
}

/**
 * Created by the first process. The file is written completely under another name and linked, so no process reads a
 * part of it.
 */
async function readOrCreateIdentity({ folder, incoming }: DirectoryLayout): Promise<string> {
  const file = join(folder, 'identity')
  const known = await ifExists(() => readFile(file, 'utf8'))
  if (known !== undefined) return known.trim()
  const draft = join(incoming, randomUUID())
  try {
    await writeFile(draft, `${randomUUID()}\n`, { flag: 'wx', mode: 0o600, flush: true })
    await link(draft, file)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    await ifExists(() => unlink(draft))
  }
  await syncFolder(folder)
  return (await readFile(file, 'utf8')).trim()
}

type UploadContext = {
  readonly layout: DirectoryLayout
  readonly keepAlive: FileKeepAlive
  readonly handles: Set<FileHandle>
}

class DirectoryFileUpload implements FileUpload {
  readonly #hash = createHash('sha256')
  #bytes = 0
  #done = false
  readonly #stopKeepAlive: () => void

  constructor(
    private readonly path: string,
    private readonly handle: FileHandle,
    private readonly context: UploadContext,
  ) {
    context.handles.add(handle)
    this.#stopKeepAlive = context.keepAlive.hold((now) => handle.utimes(now, now))
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
    const { layout, keepAlive } = this.context
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
      closeOnce(this.handle, this.context.handles).catch(() => undefined)
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
    const exists = await ifExists(() => utimes(file, now, now).then(() => true))
    if (exists !== true) await this.#restore(file)
  }

  /** An open handle still reads the content after the file was unlinked. */
  async #restore(file: string): Promise<void> {
    const path = join(this.context.layout.incoming, randomUUID())
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
    await closeOnce(this.handle, this.context.handles)
    await ifExists(() => unlink(this.path))
  }
}

/** Closes an open handle: at most once, because its descriptor's number may belong to another file afterwards. */
async function closeOnce(handle: FileHandle, openHandles: Set<FileHandle>): Promise<void> {
  if (openHandles.delete(handle)) await handle.close()
}

/** On a full disk, a write may store only part of the buffer. */
async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    written += (await handle.write(bytes, written, bytes.length - written)).bytesWritten
  }
}

const touchHandle = (handle: FileHandle) => {
  const now = uniqueTouchTimeSeconds()
  return handle.utimes(now, now)
}

async function copyBytes(from: FileHandle, to: FileHandle): Promise<void> {
  const buffer = Buffer.alloc(CHUNK)
  for (let position = 0; ;) {
    const { bytesRead } = await from.read(buffer, 0, CHUNK, position)
    if (bytesRead === 0) return
    await writeAll(to, buffer.subarray(0, bytesRead))
    position += bytesRead
  }
}

/** Bytes copied per read. */
const CHUNK = 256 * 1024

async function readFileContent(
  layout: DirectoryLayout,
  digest: string,
  options: FileReadOptions = {},
): Promise<Readable | undefined> {
  const handle = await ifExists(() => open(layout.pathOf(digest), 'r'))
  if (handle === undefined) return undefined
  try {
    const { size } = await handle.stat()
    requireLength(digest, size, options)
    const { start, end } = options.range ?? { start: 0, end: size - 1 }
    const promised = Math.min(end, size - 1) - start + 1
    return pipeline(handle.createReadStream(options.range), requireBytes(digest, promised), () => undefined)
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** Fails if fewer bytes pass than were promised: the file was truncated while it was read. */
function requireBytes(digest: string, promised: number): Transform {
  let missing = promised
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      missing -= chunk.length
      done(null, chunk)
    },
    flush: (done) =>
      done(missing === 0 ? null : new BytesMissing(`File ${digest} ended ${missing} bytes early while it was read`)),
  })
}

/** One directory at a time, so that only one directory's names are in memory. */
async function* listFiles(layout: DirectoryLayout): AsyncIterable<FileEntry> {
  for (const first of await foldersIn(layout.folder)) {
    for (const second of await foldersIn(join(layout.folder, first))) {
      for (const digest of await readdir(join(layout.folder, first, second))) {
        if (!DIGEST.test(digest)) continue
        const touch = await readTouch(layout.pathOf(digest))
        if (touch !== undefined) yield { digest, ...touch }
      }
    }
  }
}

const foldersIn = async (folder: string) => (await readdir(folder)).filter((name) => /^[0-9a-f]{2}$/.test(name))

/**
 * Removes a file whose touch token is still `touchToken`. The file is moved to `incoming/` first and its token checked again
 * there: a concurrent upload of the same content may have touched or replaced it, in which case it is restored.
 */
async function removeFile(
  layout: DirectoryLayout,
  digest: string,
  touchToken: string,
): Promise<'removed' | 'touched' | 'missing'> {
  const file = layout.pathOf(digest)
  const found = await readTouchToken(file)
  if (found !== touchToken) return found === undefined ? 'missing' : 'touched'
  const movedPath = join(layout.incoming, `${REMOVING_PREFIX}${digest}-${randomUUID()}`)
  if (!(await existed(() => rename(file, movedPath)))) return 'missing'
  if ((await readTouchToken(movedPath)) === touchToken)
    return (await existed(() => unlink(movedPath))) ? 'removed' : 'touched'
  await restoreFile(layout, movedPath, digest)
  return 'touched'
}

const REMOVING_PREFIX = 'removing-'

/** @returns false if the file does not exist */
const existed = async (action: () => Promise<void>): Promise<boolean> =>
  (await ifExists(() => action().then(() => true))) ?? false

async function restoreFile(layout: DirectoryLayout, movedPath: string, digest: string): Promise<void> {
  const file = layout.pathOf(digest)
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

async function* listTemporaryFiles({ incoming }: DirectoryLayout): AsyncIterable<TemporaryFile> {
  for (const name of await mapFileSystemErrors(() => readdir(incoming))) {
    const touchToken = await mapFileSystemErrors(() => readTouchToken(join(incoming, name)))
    if (touchToken !== undefined)
      yield { name, touchToken, abandonedAfterMs: UPLOAD_ABANDONED_AFTER_MS, ...parseInterruptedRemoval(name) }
  }
}

const parseInterruptedRemoval = (name: string): Pick<TemporaryFile, 'restoredDigest'> =>
  name.startsWith(REMOVING_PREFIX)
    ? { restoredDigest: name.slice(REMOVING_PREFIX.length, REMOVING_PREFIX.length + 64) }
    : {}

/**
 * Deletes an abandoned upload. Restores the file of an interrupted removal, because its token may not have been checked
 * again.
 */
async function removeTemporaryFile(layout: DirectoryLayout, { name, touchToken }: TemporaryFile): Promise<boolean> {
  const path = join(layout.incoming, name)
  if ((await readTouchToken(path)) !== touchToken) return false
  const { restoredDigest } = parseInterruptedRemoval(name)
  if (restoredDigest === undefined) return existed(() => unlink(path))
  await restoreFile(layout, path, restoredDigest)
  return false
}
