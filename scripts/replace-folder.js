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
export function replaceFolder(from, to) {
  const files = filesIn(from)
  for (const path of files) {
    if (isSame(join(from, path), join(to, path))) continue
    mkdirSync(dirname(join(to, path)), { recursive: true })
    renameSync(join(from, path), join(to, path))
  }
  removeExcept(new Set(files), to)
  removeFolder(from)
}

/** Deletes a folder and its content, if it exists. */
export function removeFolder(folder) {
  if (existsSync(folder)) removeExcept(new Set(), folder)
}

/** Deletes the files that are not in `kept`, and folders that are then empty, including the folder itself. */
function removeExcept(kept, folder) {
  for (const path of filesIn(folder)) if (!kept.has(path)) removeIfPresent(unlinkSync, join(folder, path))
  removeEmptyFolders(folder)
}

function removeEmptyFolders(folder) {
  for (const name of readdirSync(folder)) if (isFolder(join(folder, name))) removeEmptyFolders(join(folder, name))
  if (readdirSync(folder).length === 0) removeIfPresent(rmdirSync, folder)
}

/** Ignores that a concurrent build has already deleted it. */
function removeIfPresent(remove, path) {
  try {
    remove(path)
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
}

function filesIn(folder, subfolder = '') {
  return readdirSync(join(folder, subfolder))
    .map((name) => join(subfolder, name))
    .reduce((found, path) => found.concat(isFolder(join(folder, path)) ? filesIn(folder, path) : path), [])
}

const isFolder = (path) => lstatSync(path).isDirectory()

/** Compares content and mode: the command must stay executable. */
function isSame(one, other) {
  if (!existsSync(other) || lstatSync(one).mode !== lstatSync(other).mode) return false
  return readFileSync(one).equals(readFileSync(other))
}
