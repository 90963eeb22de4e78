import type { Collection, ObjectId } from 'mongodb'
import type { Mongo } from '../connection.ts'
import { indexedCalls, type CallOn } from '../indexed-calls.ts'

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

export type Chunk = { readonly files_id: ObjectId; readonly n: number; readonly data: Buffer }

/** An upload under way, touched again and again while its process lives. */
export type Upload = { readonly _id: ObjectId; readonly touched: number }

export type FileCollections = {
  readonly files: Collection<GridFile>
  readonly chunks: Collection<Chunk>
  readonly uploads: Collection<Upload>
}

/** Bytes of a chunk, GridFS's own default. */
export const CHUNK = 255 * 1024

const fileCollections = ({ db }: Mongo): FileCollections => ({
  files: db.collection('fs.files'),
  chunks: db.collection('fs.chunks'),
  uploads: db.collection('fs.uploads'),
})

export type FileCall = CallOn<FileCollections>

export function fileCalls(mongo: Mongo): FileCall {
  const collections = fileCollections(mongo)
  return indexedCalls(mongo, collections, [
    () => collections.files.createIndex({ filename: 1, uploadDate: 1 }),
    () => collections.chunks.createIndex({ files_id: 1, n: 1 }, { unique: true }),
  ])
}
