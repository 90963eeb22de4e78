import { stat } from 'node:fs/promises'
import { ifThere } from './failure.ts'

/** A file's mark: which file it is, and when it was touched, to the nanosecond. Taking it aside changes neither. */
export async function markAt(path: string): Promise<string | undefined> {
  const found = await ifThere(() => stat(path, { bigint: true }))
  return found && `${found.ino}-${found.mtimeNs}`
}
