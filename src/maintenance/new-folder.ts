import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { BadUsage } from './operation.ts'

/**
 * A copy goes to a new or an empty folder outside of DATA_DIR.
 * @param folder an absolute path, like `dataDir`
 * @throws BadUsage
 */
export function checkNewFolder(folder: string, dataDir: string): void {
  if (!relative(dataDir, folder).startsWith('..')) {
    throw new BadUsage(
      `${folder} is in DATA_DIR, and would be lost with it: name a folder elsewhere, best on another disk`,
    )
  }
  requireEmptyFolder(folder)
}

function requireEmptyFolder(folder: string): void {
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    throw new BadUsage(`${folder} is not empty: name a new folder`)
  }
}

/**
 * Fills a new or an empty folder. If that fails, the folder is as it was before.
 * @throws BadUsage where the folder is not empty, and what `fill` throws
 */
export async function fillNewFolder<Result>(folder: string, fill: () => Promise<Result>): Promise<Result> {
  requireEmptyFolder(folder)
  const isNew = !existsSync(folder)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  try {
    return await fill()
  } catch (error) {
    for (const part of readdirSync(folder)) rmSync(join(folder, part), { recursive: true })
    if (isNew) rmSync(folder, { recursive: true })
    throw error
  }
}
