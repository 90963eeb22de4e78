// Replaces the content of a folder by that of another one. Each file is replaced atomically by a rename, so that a process that starts or
// runs meanwhile reads either the old or the new file, never a part. Like build.js, this file must run on Node from version 12.
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Moves the files of `from` to `to`. Identical files stay; files that `from` lacks are deleted, and so are folders that are then empty.
 * Deletes `from`.
 * @param from a folder on the same file system
 * @param to created if it does not exist
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

/** Deletes a folder and its content, if it exists. */
export function removeFolder(folder) {
  if (existsSync(folder)) removeBut(new Set(), folder)
}

/** Deletes the files that are not in `kept`, and folders that are then empty, including the folder itself. */
function removeBut(kept, folder) {
  for (const path of filesIn(folder)) if (!kept.has(path)) removed(unlinkSync, join(folder, path))
  removeEmpty(folder)
}

function removeEmpty(folder) {
  for (const name of readdirSync(folder)) if (isFolder(join(folder, name))) removeEmpty(join(folder, name))
  if (readdirSync(folder).length === 0) removed(rmdirSync, folder)
}

/** Ignores that a concurrent build has already deleted it. */
function removed(remove, path) {
  try {
    remove(path)
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
}

function filesIn(folder, below = '') {
  return readdirSync(join(folder, below))
    .map((name) => join(below, name))
    .reduce((found, path) => found.concat(isFolder(join(folder, path)) ? filesIn(folder, path) : path), [])
}

const isFolder = (path) => lstatSync(path).isDirectory()

/** Compares content and mode: the command must stay executable. */
function isSame(one, other) {
  if (!existsSync(other) || lstatSync(one).mode !== lstatSync(other).mode) return false
  return readFileSync(one).equals(readFileSync(other))
}
