import { GridFSBucket, ObjectId, type Collection } from 'mongodb'
import { createHash } from 'node:crypto'
import { StoreUnavailable } from '../ports/event-store.ts'
import {
  requireLength,
  UPLOAD_ABANDONED_AFTER_MS,
  type FileStore,
  type FileUpload,
  type StoredFile,
  type TemporaryFile,
  type FileEntry,
} from '../ports/file-store.ts'
import { uniqueTouchTimeSeconds, FileKeepAlive } from '../file-keep-alive.ts'
import { WRITE, type MongoDatabase } from './connection.ts'
import { isDuplicate, STORE } from './failure.ts'
import { readOrCreateIdentity } from './linearizable-reads.ts'
import { indexedCalls, type CollectionCall } from './indexed-calls.ts'

/** Files in GridFS. Several processes may share the database. */
export function createGridFileStore(mongo: MongoDatabase): FileStore {
  const call = fileCalls(mongo)
  const bucket = new GridFSBucket(mongo.db)
  const keepAlive = new FileKeepAlive()
  return {
    identity: () => readOrCreateIdentity(mongo, 'files'),
    async receive() {
      const incoming = await GridFileUpload.begin(call, keepAlive)
      return {
        write: (chunk) => incoming.write(chunk),
        discard: () => incoming.discard(),
        async keep() {
          const storedFile = await incoming.keep()
          // Remaining duplicates are removed with the next upload of the same content, or with the file.
          await removeOlder(call, storedFile.digest).catch(() => undefined)
          return storedFile
        },
      }
    },
    async readFile(digest, { range, ...expected } = {}) {
      const newest = await call(({ files }) =>
        files.findOne({ filename: digest }, { sort: { uploadDate: -1, _id: -1 } }),
      )
      if (newest === null) return undefined
      requireLength(digest, await storedLengthOf(call, newest), expected)
      // The driver's `end` is exclusive.
      const part = range && { start: range.start, end: range.end + 1 }
      return bucket.openDownloadStream(newest._id, part)
    },
    list: () => listFiles(call),
    readTouchToken: async (digest) =>
      touchTokenOf(await call(({ files }) => files.find({ filename: digest }).toArray())),
    remove: (digest, touchToken) => removeFile(call, digest, touchToken),
    temporaryFiles: () => listTemporaryFiles(call),
    removeTemporaryFile: (temporaryFile) => removeTemporaryFile(call, temporaryFile),
    close: async () => keepAlive.stop(),
  }
}

type FileCall = CollectionCall<FileCollections>

function fileCalls(mongo: MongoDatabase): FileCall {
  const collections = fileCollections(mongo)
  return indexedCalls(mongo, collections, [
    () => collections.files.createIndex({ filename: 1, uploadDate: 1 }),
    () => collections.chunks.createIndex({ files_id: 1, n: 1 }, { unique: true }),
  ])
}

type FileCollections = {
  readonly files: Collection<GridFile>
  readonly chunks: Collection<GridFileChunk>
  readonly uploads: Collection<GridUploadDocument>
}

const fileCollections = ({ db }: MongoDatabase): FileCollections => ({
  files: db.collection('fs.files'),
  chunks: db.collection('fs.chunks'),
  uploads: db.collection('fs.uploads'),
})

class GridFileUpload implements FileUpload {
  readonly #id: ObjectId
  readonly #hash = createHash('sha256')
  #pending: Uint8Array[] = []
  #pendingBytes = 0
  #bytes = 0
  #chunks = 0
  #isKept = false
  readonly #stopKeepAlive: () => void

  private constructor(
    id: ObjectId,
    private readonly call: FileCall,
    private readonly keepAlive: FileKeepAlive,
  ) {
    this.#id = id
    this.#stopKeepAlive = keepAlive.hold((now) => touchUpload(call, id, now * 1000))
  }

  static async begin(call: FileCall, keepAlive: FileKeepAlive): Promise<GridFileUpload> {
    const _id = new ObjectId()
    await call(({ uploads }) => uploads.insertOne({ _id, touched: uniqueTouchTimeSeconds() * 1000 }), WRITE)
    return new GridFileUpload(_id, call, keepAlive)
  }

  /** Buffers less than two chunks in memory. */
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
   * Inserting the file's document makes it visible. If another process has abandoned this upload, a document with its
   * id exists and the upload fails.
   */
  async keep(): Promise<StoredFile> {
    if (this.#pendingBytes > 0) await this.#flush()
    const digest = this.#hash.digest('hex')
    const file = { _id: this.#id, length: this.#bytes, chunkSize: CHUNK, filename: digest }
    const document = { ...file, uploadDate: new Date(), metadata: { touched: uniqueTouchTimeSeconds() * 1000 } }
    try {
      await this.call(({ files }) => files.insertOne(document), WRITE)
    } catch (error) {
      if (!isDuplicate(error)) throw error
      throw new StoreUnavailable('the upload took too long and was abandoned', { cause: error, store: STORE })
    }
    this.#isKept = true
    const release = this.keepAlive.hold((seconds) => touchFile(this.call, digest, seconds * 1000))
    this.#stopKeepAlive()
    // A remaining upload record is harmless; the garbage collector removes it.
    await this.call(({ uploads }) => uploads.deleteOne({ _id: this.#id }), WRITE).catch(() => undefined)
    return { digest, bytes: this.#bytes, ensureStored: () => this.#ensure(digest), release }
  }

  /** A collected file is kept for a while as a removed one, with all of its chunks. */
  async #ensure(digest: string): Promise<void> {
    if ((await touchFile(this.call, digest, uniqueTouchTimeSeconds() * 1000)).matchedCount > 0) return
    const restoration = { $set: { filename: digest, 'metadata.touched': uniqueTouchTimeSeconds() * 1000 } }
    const found = await this.call(
      ({ files }) => files.updateOne({ _id: this.#id, filename: REMOVED_FILE_NAME, length: this.#bytes }, restoration),
      WRITE,
    )
    if (found.matchedCount === 0)
      throw new StoreUnavailable(`file ${digest} was collected while it was in use`, { store: STORE })
  }

  async discard(): Promise<void> {
    if (this.#isKept) return
    this.#stopKeepAlive()
    await this.call(async ({ chunks, uploads }) => {
      await chunks.deleteMany({ files_id: this.#id })
      await uploads.deleteOne({ _id: this.#id })
    }, WRITE)
  }
}

const touchUpload = (call: FileCall, _id: ObjectId, touched: number) =>
  call(({ uploads }) => uploads.updateOne({ _id }, { $set: { touched } }), WRITE)

/** Bytes per chunk: the default of GridFS. */
const CHUNK = 255 * 1024

/** Touches every revision: this process's one may have been replaced by a newer upload of the same content. */
const touchFile = (call: FileCall, filename: string, touched: number) =>
  call(({ files }) => files.updateMany({ filename }, { $set: { 'metadata.touched': touched } }), WRITE)

const REMOVED_FILE_NAME = ''

async function removeOlder(call: FileCall, digest: string): Promise<void> {
  const [newest, ...older] = await call(({ files }) =>
    files.find({ filename: digest }).sort({ uploadDate: -1, _id: -1 }).toArray(),
  )
  if (newest === undefined) return
  for (const revision of older) await markRemoved(call, revision, 'always')
}

type GridFileRevision = Pick<GridFile, '_id' | 'filename' | 'metadata'>

/**
 * Marks a revision as removed, so that it is no longer found. @returns false if it was removed already, or touched and
 * `when` forbids that
 */
async function markRemoved(
  call: FileCall,
  { _id, filename, metadata }: GridFileRevision,
  when: 'if unchanged' | 'always',
): Promise<boolean> {
  const touchFilter = when === 'if unchanged' ? { 'metadata.touched': metadata.touched } : {}
  const removal = { $set: { filename: REMOVED_FILE_NAME, 'metadata.touched': uniqueTouchTimeSeconds() * 1000 } }
  return (
    (await call(({ files }) => files.updateOne({ _id, filename, ...touchFilter }, removal), WRITE)).modifiedCount === 1
  )
}

/** The length that the file's document states, or less if chunks are missing. */
async function storedLengthOf(call: FileCall, { _id, length, chunkSize }: GridFile): Promise<number> {
  const chunkCount = await call(({ chunks }) => chunks.countDocuments({ files_id: _id }))
  return chunkCount < Math.ceil(length / chunkSize) ? chunkCount * chunkSize : length
}

/**
 * A file in GridFS format, readable with GridFS tools: https://www.mongodb.com/docs/manual/core/gridfs/
 * `filename` is the digest. Each upload is a separate revision, and the newest one is read, so an upload never depends
 * on chunks that another process may be about to remove.
 */
type GridFile = {
  readonly _id: ObjectId
  readonly length: number
  readonly chunkSize: number
  readonly uploadDate: Date
  /** '' once the file is removed. Its chunks are kept for a while for running reads. */
  readonly filename: string
  /** Milliseconds since 1970. */
  readonly metadata: { readonly touched: number }
}

/** In order of the digests, so that all revisions of a digest are adjacent. A page's last digest is left to the next page. */
async function* listFiles(call: FileCall): AsyncIterable<FileEntry> {
  let after = ''
  for (;;) {
    const filter = { filename: { $gt: after } }
    const options = { projection: { filename: 1, metadata: 1 }, sort: { filename: 1 }, limit: PAGE } as const
    const page = await call(({ files }) => files.find(filter, options).toArray())
    const revisions = Map.groupBy(page, ({ filename }) => filename)
    const last = page.at(-1)?.filename
    if (last !== undefined && page.length === PAGE && revisions.size > 1) revisions.delete(last)
    for (const [digest, found] of revisions) {
      const touchToken = touchTokenOf(found)
      const touchedAt = Math.max(...found.map(({ metadata }) => metadata.touched))
      if (touchToken !== undefined) yield { digest, touchToken, touchedAt }
    }
    if (page.length < PAGE) return
    after = [...revisions.keys()].at(-1) ?? after
  }
}

const PAGE = 500

/** The token combines all revisions of a file; undefined if there are none. */
function touchTokenOf(revisions: readonly GridFileRevision[]): string | undefined {
  if (revisions.length === 0) return undefined
  return revisions
    .map(({ _id, metadata }) => `${_id.toHexString()}-${metadata.touched}`)
    .toSorted()
    .join(',')
}

/** Removes every revision, each only if it has not been touched since it was read. */
async function removeFile(
  call: FileCall,
  digest: string,
  touchToken: string,
): Promise<'removed' | 'touched' | 'missing'> {
  const revisions = await call(({ files }) => files.find({ filename: digest }).toArray())
  if (revisions.length === 0) return 'missing'
  if (touchTokenOf(revisions) !== touchToken) return 'touched'
  for (const revision of revisions) if (!(await markRemoved(call, revision, 'if unchanged'))) return 'touched'
  return 'removed'
}

/** Unfinished uploads, and the documents of removed files and of abandoned uploads. */
async function* listTemporaryFiles(call: FileCall): AsyncIterable<TemporaryFile> {
  for (const { _id, touched } of await call(({ uploads }) => uploads.find().toArray())) {
    yield {
      name: `upload-${_id.toHexString()}`,
      touchToken: String(touched),
      abandonedAfterMs: UPLOAD_ABANDONED_AFTER_MS,
    }
  }
  for (const { _id, length, metadata } of await call(({ files }) =>
    files.find({ filename: REMOVED_FILE_NAME }).toArray(),
  )) {
    const abandonedAfterMs = length > 0 ? REMOVED_CHUNKS_KEPT_MS : ABANDONED_UPLOAD_KEPT_MS
    yield { name: `gone-${_id.toHexString()}`, touchToken: String(metadata.touched), abandonedAfterMs }
  }
}

/** Milliseconds for which a removed file's chunks are kept for running reads and for `ensureStored`. */
const REMOVED_CHUNKS_KEPT_MS = 60_000

/**
 * Milliseconds for which an abandoned upload's document is kept, so that a process that resumes late cannot complete
 * the upload.
 */
const ABANDONED_UPLOAD_KEPT_MS = 3_600_000

async function removeTemporaryFile(call: FileCall, { name, touchToken }: TemporaryFile): Promise<boolean> {
  const _id = new ObjectId(name.slice(name.indexOf('-') + 1))
  if (name.startsWith('upload-')) return abandonUpload(call, _id, Number(touchToken))
  await deleteRemovedFile(call, _id, Number(touchToken))
  return false
}

/**
 * Abandons an upload by inserting its file's document as a removed file: a process that resumes the upload then fails
 * with a duplicate key. If the insert itself fails with a duplicate key, the file was stored and only its upload record
 * remained.
 */
async function abandonUpload(call: FileCall, _id: ObjectId, touched: number): Promise<boolean> {
  if ((await call(({ uploads }) => uploads.findOne({ _id, touched }))) === null) return false
  const removed = {
    length: 0,
    chunkSize: CHUNK,
    uploadDate: new Date(),
    metadata: { touched: uniqueTouchTimeSeconds() * 1000 },
  }
  const isAbandoned = await call(
    ({ files }) => files.insertOne({ _id, filename: REMOVED_FILE_NAME, ...removed }),
    WRITE,
  ).then(
    () => true,
    (error: unknown) => {
      if (isDuplicate(error)) return false
      throw error
    },
  )
  if (isAbandoned) await call(({ chunks }) => chunks.deleteMany({ files_id: _id }), WRITE)
  await call(({ uploads }) => uploads.deleteOne({ _id }), WRITE)
  return isAbandoned
}

/**
 * First sets the document's length to 0, so that restoring the file finds either all of its chunks or nothing. A crash
 * in between leaves such a document, which is cleaned up later.
 */
async function deleteRemovedFile(call: FileCall, _id: ObjectId, touched: number): Promise<void> {
  const removed = { _id, filename: REMOVED_FILE_NAME }
  const unchanged = { ...removed, 'metadata.touched': touched }
  const { matchedCount } = await call(({ files }) => files.updateOne(unchanged, { $set: { length: 0 } }), WRITE)
  if (matchedCount === 0) return
  await call(({ chunks }) => chunks.deleteMany({ files_id: _id }), WRITE)
  await call(({ files }) => files.deleteOne({ ...removed, length: 0 }), WRITE)
}

type GridFileChunk = { readonly files_id: ObjectId; readonly n: number; readonly data: Buffer }

/** An unfinished upload. Its process touches it periodically. */
type GridUploadDocument = { readonly _id: ObjectId; readonly touched: number }
