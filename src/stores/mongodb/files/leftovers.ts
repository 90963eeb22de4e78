import { ObjectId } from 'mongodb'
import { ABANDONED, type Leftover } from '../../ports/files.ts'
import { markedNow } from '../../touching.ts'
import { WRITE } from '../connection.ts'
import { isDuplicate } from '../failure.ts'
import { CHUNK, type FileCall } from './collections.ts'
import { GONE } from './removal.ts'

/** Milliseconds that a removed file's chunks stay for whoever is reading them, or holds the file and may want it back. */
const READING = 60_000
/** Milliseconds for which an upload that was given up can't be kept any more, however late its process goes on. */
const GIVEN_UP = 3_600_000

/** Uploads that are not kept yet, and the documents of files that are gone: with chunks, or of uploads given up. */
export async function* leftoversIn(call: FileCall): AsyncIterable<Leftover> {
  for (const { _id, touched } of await call(({ uploads }) => uploads.find().toArray())) {
    yield { name: `upload-${_id.toHexString()}`, mark: String(touched), patience: ABANDONED }
  }
  for (const { _id, length, metadata } of await call(({ files }) => files.find({ filename: GONE }).toArray())) {
    const patience = length > 0 ? READING : GIVEN_UP
    yield { name: `gone-${_id.toHexString()}`, mark: String(metadata.touched), patience }
  }
}

export async function removeLeftover(call: FileCall, { name, mark }: Leftover): Promise<boolean> {
  const _id = new ObjectId(name.slice(name.indexOf('-') + 1))
  if (name.startsWith('upload-')) return giveUp(call, _id, Number(mark))
  await forget(call, _id, Number(mark))
  return false
}

/**
 * An upload is given up by inserting its file's document, as one that is gone: an upload that goes on after all finds it
 * there. Where the insert finds the document of a file that was kept, only the note of the upload was left.
 */
async function giveUp(call: FileCall, _id: ObjectId, touched: number): Promise<boolean> {
  if ((await call(({ uploads }) => uploads.findOne({ _id, touched }))) === null) return false
  const gone = { length: 0, chunkSize: CHUNK, uploadDate: new Date(), metadata: { touched: markedNow() * 1000 } }
  const given = await call(({ files }) => files.insertOne({ _id, filename: GONE, ...gone }), WRITE).then(
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
async function forget(call: FileCall, _id: ObjectId, touched: number): Promise<void> {
  const gone = { _id, filename: GONE }
  const still = { ...gone, 'metadata.touched': touched }
  const { matchedCount } = await call(({ files }) => files.updateOne(still, { $set: { length: 0 } }), WRITE)
  if (matchedCount === 0) return
  await call(({ chunks }) => chunks.deleteMany({ files_id: _id }), WRITE)
  await call(({ files }) => files.deleteOne({ ...gone, length: 0 }), WRITE)
}
