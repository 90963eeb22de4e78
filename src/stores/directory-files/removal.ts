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
export async function removeFile(
  places: Places,
  digest: string,
  before: number,
): Promise<'removed' | 'touched' | 'missing'> {
  const file = places.fileOf(digest)
  const untouched = await isUntouched(file, before)
  if (untouched !== true) return untouched === undefined ? 'missing' : 'touched'
  const aside = join(places.incoming, `${MARK}${digest}-${randomUUID()}`)
  if (!(await done(() => rename(file, aside)))) return 'missing'
  if ((await isUntouched(aside, before)) === true) return (await done(() => unlink(aside))) ? 'removed' : 'touched'
  await putBack(places, aside, digest)
  return 'touched'
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
    else if (await done(() => unlink(path))) removed++
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

/** @returns undefined where there is no such file */
async function isUntouched(path: string, before: number): Promise<boolean | undefined> {
  const found = await ifThere(() => stat(path))
  return found && found.mtimeMs <= before
}

/** @returns false where the file was gone */
const done = async (action: () => Promise<void>): Promise<boolean> =>
  (await ifThere(() => action().then(() => true))) ?? false

/** Taking aside changes the inode, not the content: the time of that counts. */
async function isLeftover(path: string, before: number): Promise<boolean> {
  const found = await ifThere(() => stat(path))
  return found !== undefined && Math.max(found.mtimeMs, found.ctimeMs) <= before
}
