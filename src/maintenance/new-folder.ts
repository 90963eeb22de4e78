import { existsSync, mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { BadUsage } from './operation.ts'

/**
 * Checks that a folder for a copy is missing or empty, and outside of DATA_DIR, also if symbolic links lead there.
 * @param folder an absolute path, like `dataDir`
 * @throws BadUsage
 */
export function checkNewFolder(folder: string, dataDir: string): void {
  if (!relative(realPathOf(dataDir), realPathOf(folder)).startsWith('..')) {
    throw new BadUsage(
      `${folder} is inside DATA_DIR and would be lost with it: choose a folder outside of it, preferably on another disk`,
    )
  }
  requireEmptyFolder(folder)
}

/** The path without symbolic links; its end may not exist yet. */
function realPathOf(path: string): string {
  if (existsSync(path) || dirname(path) === path) return realpathSync(path)
  return join(realPathOf(dirname(path)), basename(path))
}

/** The names in a folder, none if it is missing; without the folder that ext4 makes at the root of a file system. */
export const contentOf = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).filter((name) => name !== 'lost+found') : []

function requireEmptyFolder(folder: string): void {
  if (contentOf(folder).length > 0) {
    throw new BadUsage(`${folder} is not empty: choose a new or empty folder`)
  }
}

/**
 * Fills a new or empty folder. If `fill` throws, the folder is emptied again, and deleted if it was new.
 * @throws BadUsage if the folder is not empty, and whatever `fill` throws
 */
export async function fillNewFolder<Result>(folder: string, fill: () => Promise<Result>): Promise<Result> {
  requireEmptyFolder(folder)
  const isNew = !existsSync(folder)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  try {
    return await fill()
  } catch (error) {
    for (const part of contentOf(folder)) rmSync(join(folder, part), { recursive: true })
    if (isNew) rmSync(folder, { recursive: true })
    throw error
  }
}
