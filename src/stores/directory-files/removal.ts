import { randomUUID } from 'node:crypto'
import { link, readdir, rename, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf, ifThere } from './failure.ts'
import { makeFolderOf, type Places } from './places.ts'

const MARK = 'removing-'

/**
 * Removes a file that nobody has touched since `before`. It is taken aside first and looked at again there: an upload
 * of the same report may have touched or replaced it since the first look, and then it is put back.
 */
export async function removeFile(places: Places, digest: string, before: number): Promise<boolean> {
  const file = places.fileOf(digest)
  if (!(await isUntouched(file, before))) return false
  const aside = join(places.incoming, `${MARK}${digest}-${randomUUID()}`)
  if ((await ifThere(() => rename(file, aside).then(() => true))) === undefined) return false
  if (await isUntouched(aside, before)) return (await ifThere(() => unlink(aside).then(() => true))) ?? false
  await putBack(places, aside, digest)
  return false
}

/**
 * Clears the temporary place of what ended processes left there: uploads go, files taken aside are put back, for
 * whoever ended may not have looked at them again.
 */
export async function removeLeftovers(places: Places, before: number): Promise<number> {
  let removed = 0
  for (const name of await readdir(places.incoming)) {
    const path = join(places.incoming, name)
    if (!(await isLeftover(path, before))) continue
    if (name.startsWith(MARK)) await putBack(places, path, name.slice(MARK.length, MARK.length + 64))
    else if (await ifThere(() => unlink(path).then(() => true))) removed++
  }
  return removed
}

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

async function isUntouched(path: string, before: number): Promise<boolean> {
  const found = await ifThere(() => stat(path))
  return found !== undefined && found.mtimeMs <= before
}

/** Taking aside changes the inode, not the content: the time of that counts. */
async function isLeftover(path: string, before: number): Promise<boolean> {
  const found = await ifThere(() => stat(path))
  return found !== undefined && Math.max(found.mtimeMs, found.ctimeMs) <= before
}
