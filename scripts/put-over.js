// Lets a folder become what another one beside it holds. Each file is put there whole, by a rename: whoever starts or works
// there meanwhile reads the one before or the new one, and never a half. Like build.js it is read by Nodes as old as 12.
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Files that are the same stay as they are; what `from` does not have goes, with folders that are empty then. `from` is
 * gone afterwards.
 * @param from a folder on the same disk
 * @param to made where it is not there
 */
export function putOver(from, to) {
  const made = filesIn(from)
  for (const path of made) {
    if (isSame(join(from, path), join(to, path))) continue
    mkdirSync(dirname(join(to, path)), { recursive: true })
    renameSync(join(from, path), join(to, path))
  }
  removeBut(new Set(made), to)
  removeFolder(from)
}

/** Removes a folder with all that it holds, where it is there. */
export function removeFolder(folder) {
  if (existsSync(folder)) removeBut(new Set(), folder)
}

/** Removes the files that are not named, and what folders are empty then, with the folder itself. */
function removeBut(kept, folder) {
  for (const path of filesIn(folder)) if (!kept.has(path)) removed(unlinkSync, join(folder, path))
  removeEmpty(folder)
}

function removeEmpty(folder) {
  for (const name of readdirSync(folder)) if (isFolder(join(folder, name))) removeEmpty(join(folder, name))
  if (readdirSync(folder).length === 0) removed(rmdirSync, folder)
}

/** Another build may have been first. */
function removed(remove, path) {
  try {
    remove(path)
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
}

/** All files below a folder, by their paths in it. */
function filesIn(folder, below = '') {
  return readdirSync(join(folder, below))
    .map((name) => join(below, name))
    .reduce((found, path) => found.concat(isFolder(join(folder, path)) ? filesIn(folder, path) : path), [])
}

const isFolder = (path) => lstatSync(path).isDirectory()

/** Bytes and rights alike: what runs is executable. */
function isSame(one, other) {
  if (!existsSync(other) || lstatSync(one).mode !== lstatSync(other).mode) return false
  return readFileSync(one).equals(readFileSync(other))
}
