import { WRITE } from '../connection.ts'
import { markedNow } from '../../touching.ts'
import type { FileCall, GridFile } from './collections.ts'

/** The name of what is removed: its chunks stay for whoever is reading them. */
export const GONE = ''

type Revision = Pick<GridFile, '_id' | 'filename' | 'metadata'>

/** Of all revisions of a file together; undefined where there is none. */
export function markOf(revisions: readonly Revision[]): string | undefined {
  if (revisions.length === 0) return undefined
  return revisions
    .map(({ _id, metadata }) => `${_id.toHexString()}-${metadata.touched}`)
    .toSorted()
    .join(',')
}

/** Removes every revision, each only where it is as untouched as it was found. */
export async function removeFile(
  call: FileCall,
  digest: string,
  mark: string,
): Promise<'removed' | 'touched' | 'missing'> {
  const revisions = await call(({ files }) => files.find({ filename: digest }).toArray())
  if (revisions.length === 0) return 'missing'
  if (markOf(revisions) !== mark) return 'touched'
  for (const revision of revisions) if (!(await retire(call, revision, 'as it was found'))) return 'touched'
  return 'removed'
}

/** What was uploaded before the newest revision of the same bytes. */
export async function removeOlder(call: FileCall, digest: string): Promise<void> {
  const [newest, ...older] = await call(({ files }) =>
    files.find({ filename: digest }).sort({ uploadDate: -1, _id: -1 }).toArray(),
  )
  if (newest === undefined) return
  for (const revision of older) await retire(call, revision, 'touched or not')
}

/** Not to be found any more from here on. @returns false where it was removed since, or touched where that counts */
async function retire(
  call: FileCall,
  { _id, filename, metadata }: Revision,
  when: 'as it was found' | 'touched or not',
): Promise<boolean> {
  const touched = when === 'as it was found' ? { 'metadata.touched': metadata.touched } : {}
  const gone = { $set: { filename: GONE, 'metadata.touched': markedNow() * 1000 } }
  return (await call(({ files }) => files.updateOne({ _id, filename, ...touched }, gone), WRITE)).modifiedCount === 1
}
