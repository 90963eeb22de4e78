import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { BadUsage } from './operation.ts'

/**
 * The folder that a copy goes to is a new or an empty one, and outside of the installation's own.
 * @param folder and dataDir are absolute
 * @throws BadUsage
 */
export function checkNewFolder(folder: string, dataDir: string): void {
  if (!relative(dataDir, folder).startsWith('..')) {
    throw new BadUsage(
      `${folder} is in DATA_DIR, and would be lost with it: name a folder elsewhere, best on another disk`,
    )
  }
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    throw new BadUsage(`${folder} is not empty: name a new folder`)
  }
}

/** Fills such a folder; where that fails, it is as it was. @throws what `fill` throws */
export async function inNewFolder<Result>(folder: string, fill: () => Promise<Result>): Promise<Result> {
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
