import { WRITE } from '../connection.ts'
import { isDuplicate } from '../failure.ts'
import { CHUNK, type FileCall, type GridFile, type Upload } from './collections.ts'

/** Milliseconds that a removed file's chunks stay for whoever is reading them. */
const READING = 60_000
/** Milliseconds for which an upload that was given up can't be kept any more, however late its process goes on. */
const GIVEN_UP = 3_600_000

const GONE = ''

/** Removes every revision, each only where it is as untouched as it was found. */
export async function removeFile(
  call: FileCall,
  digest: string,
  before: number,
): Promise<'removed' | 'touched' | 'missing'> {
  const revisions = await call(({ files }) => files.find({ filename: digest }).toArray())
  if (revisions.length === 0) return 'missing'
  if (revisions.some(({ metadata }) => metadata.touched > before)) return 'touched'
  for (const revision of revisions) if (!(await retire(call, revision, before))) return 'touched'
  return 'removed'
}

/** What was uploaded before the newest revision of the same bytes. */
export async function removeOlder(call: FileCall, digest: string): Promise<void> {
  const [newest, ...older] = await call(({ files }) =>
    files.find({ filename: digest }).sort({ uploadDate: -1, _id: -1 }).toArray(),
  )
  if (newest === undefined) return
  for (const revision of older) await retire(call, revision, Number.MAX_SAFE_INTEGER)
}

/** Not to be found any more from here on. @returns false where it was touched or removed since */
async function retire(call: FileCall, { _id, filename }: GridFile, before: number): Promise<boolean> {
  const untouched = { _id, filename, 'metadata.touched': { $lte: before } }
  const gone = { $set: { filename: GONE, 'metadata.touched': Date.now() } }
  return (await call(({ files }) => files.updateOne(untouched, gone), WRITE)).modifiedCount === 1
}

/**
 * Removes what ended processes left unfinished, and the chunks of what was removed a while ago.
 * @returns how many uploads were unfinished
 */
export async function removeLeftovers(call: FileCall, before: number): Promise<number> {
  await removeChunks(call, before)
  const left = await call(({ uploads }) => uploads.find({ touched: { $lte: before } }).toArray())
  let removed = 0
  for (const upload of left) if (await giveUp(call, upload)) removed++
  return removed
}

/**
 * An upload is given up by inserting its file's document, as one that is gone: an upload that goes on after all finds it
 * there. Where the insert finds the document of a file that was kept, only the note of the upload was left.
 */
async function giveUp(call: FileCall, { _id }: Upload): Promise<boolean> {
  const gone = { length: 0, chunkSize: CHUNK, uploadDate: new Date(), metadata: { touched: Date.now() } }
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

async function removeChunks(call: FileCall, before: number): Promise<void> {
  const gone = { filename: GONE, 'metadata.touched': { $lte: before - READING } }
  const files = await call((all) => all.files.find(gone).toArray())
  for (const { _id, length, metadata } of files) {
    if (length > 0) await call(({ chunks }) => chunks.deleteMany({ files_id: _id }), WRITE)
    if (length > 0 || metadata.touched <= before - GIVEN_UP) await call((all) => all.files.deleteOne({ _id }), WRITE)
  }
}
