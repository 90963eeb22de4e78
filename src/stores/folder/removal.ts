import { randomUUID } from 'node:crypto'
import { link, readdir, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { ABANDONED, type Leftover } from '../ports/files.ts'
import { available, codeOf, ifThere } from './failure.ts'
import { makeFolderOf, markAt, type Places } from './places.ts'

const MARK = 'removing-'

/**
 * Removes a file that nobody has touched since its mark was seen. It is taken aside first and looked at again there: an
 * upload of the same report may have touched or replaced it since the first look, and then it is put back.
 */
export async function removeFile(
  places: Places,
  digest: string,
  mark: string,
): Promise<'removed' | 'touched' | 'missing'> {
  const file = places.fileOf(digest)
  const found = await markAt(file)
  if (found !== mark) return found === undefined ? 'missing' : 'touched'
  const aside = join(places.incoming, `${MARK}${digest}-${randomUUID()}`)
  if (!(await done(() => rename(file, aside)))) return 'missing'
  if ((await markAt(aside)) === mark) return (await done(() => unlink(aside))) ? 'removed' : 'touched'
  await putBack(places, aside, digest)
  return 'touched'
}

/** Whatever is in the temporary place: uploads, and files that were taken aside. */
export async function* leftoversIn({ incoming }: Places): AsyncIterable<Leftover> {
  for (const name of await available(() => readdir(incoming))) {
    const mark = await available(() => markAt(join(incoming, name)))
    if (mark !== undefined) yield { name, mark, patience: ABANDONED, ...takenAside(name) }
  }
}

/** Uploads go; files taken aside are put back, for whoever ended may not have looked at them again. */
export async function removeLeftover(places: Places, { name, mark }: Leftover): Promise<boolean> {
  const path = join(places.incoming, name)
  if ((await markAt(path)) !== mark) return false
  const { back } = takenAside(name)
  if (back === undefined) return done(() => unlink(path))
  await putBack(places, path, back)
  return false
}

const takenAside = (name: string): Pick<Leftover, 'back'> =>
  name.startsWith(MARK) ? { back: name.slice(MARK.length, MARK.length + 64) } : {}

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

/** @returns false where the file was gone */
const done = async (action: () => Promise<void>): Promise<boolean> =>
  (await ifThere(() => action().then(() => true))) ?? false
