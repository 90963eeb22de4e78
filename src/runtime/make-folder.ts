import { accessSync, constants, mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Makes a folder and those above it that are missing, for this user alone, and sees that it can be written to. Node's own
 * recursive way goes on for ever below /proc, where making a folder fails as if its parent were missing.
 * @throws the file system's error
 */
export function makeFolder(folder: string): void {
  make(resolve(folder))
  accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
}

function make(folder: string): void {
  if (isFolder(folder)) return
  const parent = dirname(folder)
  if (parent !== folder) make(parent)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process was first, or a link that leads nowhere is in the way.
    if (!isFolder(folder)) throw error
  }
}

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
