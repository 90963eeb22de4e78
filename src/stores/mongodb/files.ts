import { GridFSBucket, ObjectId, type Collection } from 'mongodb'
import { createHash } from 'node:crypto'
import { StoreUnavailable } from '../ports/event-store.ts'
import {
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

/**
 * A file as GridFS has it, so that its tools read it: https://www.mongodb.com/docs/manual/core/gridfs/
 * `filename` is the digest. Each upload is a revision of its own, and the newest is read: an upload never relies on
 * bytes that another process may be about to remove.
 */
export type GridFile = {
  readonly _id: ObjectId
  readonly length: number
  readonly chunkSize: number
  readonly uploadDate: Date
  /** '' from the time that it was removed: its chunks stay for whoever is reading them. */
  readonly filename: string
  /** Milliseconds since 1970. */
  readonly metadata: { readonly touched: number }
}

export type GridFileChunk = { readonly files_id: ObjectId; readonly n: number; readonly data: Buffer }

/** An upload under way, touched again and again while its process lives. */
export type GridUploadDocument = { readonly _id: ObjectId; readonly touched: number }

export type FileCollections = {
  readonly files: Collection<GridFile>
  readonly chunks: Collection<GridFileChunk>
  readonly uploads: Collection<GridUploadDocument>
}

/** Bytes of a chunk, GridFS's own default. */
const CHUNK = 255 * 1024

const fileCollections = ({ db }: MongoDatabase): FileCollections => ({
  files: db.collection('fs.files'),
  chunks: db.collection('fs.chunks'),
  uploads: db.collection('fs.uploads'),
})

export type FileCall = CollectionCall<FileCollections>

function fileCalls(mongo: MongoDatabase): FileCall {
  const collections = fileCollections(mongo)
  return indexedCalls(mongo, collections, [
    () => collections.files.createIndex({ filename: 1, uploadDate: 1 }),
    () => collections.chunks.createIndex({ files_id: 1, n: 1 }, { unique: true }),
  ])
}

/** The name of what is removed: its chunks stay for whoever is reading them. */
const REMOVED_FILE_NAME = ''

type GridFileRevision = Pick<GridFile, '_id' | 'filename' | 'metadata'>

/** Of all revisions of a file together; undefined where there is none. */
function touchTokenOf(revisions: readonly GridFileRevision[]): string | undefined {
  if (revisions.length === 0) return undefined
  return revisions
    .map(({ _id, metadata }) => `${_id.toHexString()}-${metadata.touched}`)
    .toSorted()
    .join(',')
}

/** Removes every revision, each only where it is as untouched as it was found. */
async function removeFile(call: FileCall, digest: string, mark: string): Promise<'removed' | 'touched' | 'missing'> {
  const revisions = await call(({ files }) => files.find({ filename: digest }).toArray())
  if (revisions.length === 0) return 'missing'
  if (touchTokenOf(revisions) !== mark) return 'touched'
  for (const revision of revisions) if (!(await markRemoved(call, revision, 'as it was found'))) return 'touched'
  return 'removed'
}

/** What was uploaded before the newest revision of the same bytes. */
async function removeOlder(call: FileCall, digest: string): Promise<void> {
  const [newest, ...older] = await call(({ files }) =>
    files.find({ filename: digest }).sort({ uploadDate: -1, _id: -1 }).toArray(),
  )
  if (newest === undefined) return
  for (const revision of older) await markRemoved(call, revision, 'touched or not')
}

/** Not to be found any more from here on. @returns false where it was removed since, or touched where that counts */
async function markRemoved(
  call: FileCall,
  { _id, filename, metadata }: GridFileRevision,
  when: 'as it was found' | 'touched or not',
): Promise<boolean> {
  const touched = when === 'as it was found' ? { 'metadata.touched': metadata.touched } : {}
  const gone = { $set: { filename: REMOVED_FILE_NAME, 'metadata.touched': uniqueTouchTimeSeconds() * 1000 } }
  return (await call(({ files }) => files.updateOne({ _id, filename, ...touched }, gone), WRITE)).modifiedCount === 1
}

/** Milliseconds that a removed file's chunks stay for whoever is reading them, or holds the file and may want it back. */
const REMOVED_CHUNKS_KEPT_MS = 60_000
/** Milliseconds for which an upload that was given up can't be kept any more, however late its process goes on. */
const ABANDONED_UPLOAD_KEPT_MS = 3_600_000

/** Uploads that are not kept yet, and the documents of files that are gone: with chunks, or of uploads given up. */
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
    const patience = length > 0 ? REMOVED_CHUNKS_KEPT_MS : ABANDONED_UPLOAD_KEPT_MS
    yield { name: `gone-${_id.toHexString()}`, touchToken: String(metadata.touched), abandonedAfterMs: patience }
  }
}

async function removeTemporaryFile(call: FileCall, { name, touchToken }: TemporaryFile): Promise<boolean> {
  const _id = new ObjectId(name.slice(name.indexOf('-') + 1))
  if (name.startsWith('upload-')) return abandonUpload(call, _id, Number(touchToken))
  await deleteRemovedFile(call, _id, Number(touchToken))
  return false
}

/**
 * An upload is given up by inserting its file's document, as one that is gone: an upload that goes on after all finds it
 * there. Where the insert finds the document of a file that was kept, only the note of the upload was left.
 */
async function abandonUpload(call: FileCall, _id: ObjectId, touched: number): Promise<boolean> {
  if ((await call(({ uploads }) => uploads.findOne({ _id, touched }))) === null) return false
  const gone = {
    length: 0,
    chunkSize: CHUNK,
    uploadDate: new Date(),
    metadata: { touched: uniqueTouchTimeSeconds() * 1000 },
  }
  const given = await call(({ files }) => files.insertOne({ _id, filename: REMOVED_FILE_NAME, ...gone }), WRITE).then(
    () => true,
    (error: unknown) => {
      if (isDuplicate(error)) return false
      throw error
    },
  )
  if (given) await call(({ chunks }) => chunks.deleteMany({ files_id: _id }), WRITE)
  await call(({ uploads }) => uploads.deleteOne({ _id }), WRITE)
  return given
}

/**
 * First its document says that there is nothing left: whoever wants the file back finds all of its chunks, or nothing. A
 * crash in between leaves such a document, which is a leftover in its turn.
 */
async function deleteRemovedFile(call: FileCall, _id: ObjectId, touched: number): Promise<void> {
  const gone = { _id, filename: REMOVED_FILE_NAME }
  const still = { ...gone, 'metadata.touched': touched }
  const { matchedCount } = await call(({ files }) => files.updateOne(still, { $set: { length: 0 } }), WRITE)
  if (matchedCount === 0) return
  await call(({ chunks }) => chunks.deleteMany({ files_id: _id }), WRITE)
  await call(({ files }) => files.deleteOne({ ...gone, length: 0 }), WRITE)
}

/** One upload: chunks of a file that nobody sees yet. */
class GridFileUpload implements FileUpload {
  readonly #id: ObjectId
  readonly #hash = createHash('sha256')
  #pending: Uint8Array[] = []
  #pendingBytes = 0
  #bytes = 0
  #chunks = 0
  #kept = false
  readonly #stopKeepAlive: () => void

  private constructor(
    id: ObjectId,
    private readonly call: FileCall,
    private readonly keepAlive: FileKeepAlive,
  ) {
    this.#id = id
    this.#stopKeepAlive = keepAlive.hold((now) => touchUpload(call, id, now * 1000))
  }

  static async begin(call: FileCall, touching: FileKeepAlive): Promise<GridFileUpload> {
    const _id = new ObjectId()
    await call(({ uploads }) => uploads.insertOne({ _id, touched: uniqueTouchTimeSeconds() * 1000 }), WRITE)
    return new GridFileUpload(_id, call, touching)
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
   * its id before, and then the upload has failed.
   */
  async keep(): Promise<StoredFile> {
    if (this.#pendingBytes > 0) await this.#flush()
    const digest = this.#hash.digest('hex')
    const file = { _id: this.#id, length: this.#bytes, chunkSize: CHUNK, filename: digest }
    const kept = { ...file, uploadDate: new Date(), metadata: { touched: uniqueTouchTimeSeconds() * 1000 } }
    try {
      await this.call(({ files }) => files.insertOne(kept), WRITE)
    } catch (error) {
      if (!isDuplicate(error)) throw error
      throw new StoreUnavailable('an upload took so long that it was given up', { cause: error, store: STORE })
    }
    this.#kept = true
    const release = this.keepAlive.hold((seconds) => touchFile(this.call, digest, seconds * 1000))
    this.#stopKeepAlive()
    // The note of an upload that was kept harms nothing, and the collector removes it.
    await this.call(({ uploads }) => uploads.deleteOne({ _id: this.#id }), WRITE).catch(() => undefined)
    return { digest, bytes: this.#bytes, ensureStored: () => this.#ensure(digest), release }
  }

  /** What a collector has taken is there as one that is gone, for a while, with all of its chunks. */
  async #ensure(digest: string): Promise<void> {
    if ((await touchFile(this.call, digest, uniqueTouchTimeSeconds() * 1000)).matchedCount > 0) return
    const back = { $set: { filename: digest, 'metadata.touched': uniqueTouchTimeSeconds() * 1000 } }
    const found = await this.call(
      ({ files }) => files.updateOne({ _id: this.#id, filename: REMOVED_FILE_NAME, length: this.#bytes }, back),
      WRITE,
    )
    if (found.matchedCount === 0)
      throw new StoreUnavailable(`the file ${digest} was collected while it was held`, { store: STORE })
  }

  async discard(): Promise<void> {
    if (this.#kept) return
    this.#stopKeepAlive()
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

/** Files in GridFS. Any number of processes may work in one database. */
export function createGridFileStore(mongo: MongoDatabase): FileStore {
  const call = fileCalls(mongo)
  const bucket = new GridFSBucket(mongo.db)
  const touching = new FileKeepAlive()
  return {
    identity: () => readOrCreateIdentity(mongo, 'files'),
    async receive() {
      const incoming = await GridFileUpload.begin(call, touching)
      return {
        write: (chunk) => incoming.write(chunk),
        discard: () => incoming.discard(),
        async keep() {
          const kept = await incoming.keep()
          // What stays twice for now is removed with the next upload of the same bytes, or with the file.
          await removeOlder(call, kept.digest).catch(() => undefined)
          return kept
        },
      }
    },
    async read(digest, range) {
      const newest = await call(({ files }) =>
        files.findOne({ filename: digest }, { sort: { uploadDate: -1, _id: -1 } }),
      )
      if (newest === null) return undefined
      // The end of a range is one behind its last byte here.
      const part = range && { start: range.start, end: range.end + 1 }
      return bucket.openDownloadStream(newest._id, part)
    },
    list: () => listFiles(call),
    readTouchToken: async (digest) =>
      touchTokenOf(await call(({ files }) => files.find({ filename: digest }).toArray())),
    remove: (digest, mark) => removeFile(call, digest, mark),
    temporaryFiles: () => listTemporaryFiles(call),
    removeTemporaryFile: (leftover) => removeTemporaryFile(call, leftover),
    close: async () => touching.stop(),
  }
}

/** Digests that are read together. */
const PAGE = 500

/** In the order of the digests: the revisions of one come together, and a page's last digest waits for the next page. */
async function* listFiles(call: FileCall): AsyncIterable<FileEntry> {
  let behind = ''
  for (;;) {
    const filter = { filename: { $gt: behind } }
    const options = { projection: { filename: 1, metadata: 1 }, sort: { filename: 1 }, limit: PAGE } as const
    const page = await call(({ files }) => files.find(filter, options).toArray())
    const revisions = Map.groupBy(page, ({ filename }) => filename)
    const last = page.at(-1)?.filename
    if (last !== undefined && page.length === PAGE && revisions.size > 1) revisions.delete(last)
    for (const [digest, found] of revisions) {
      const mark = touchTokenOf(found)
      if (mark !== undefined) yield { digest, touchToken: mark }
    }
    if (page.length < PAGE) return
    behind = [...revisions.keys()].at(-1) ?? behind
  }
}
