import { createWriteStream } from 'node:fs'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { BytesMissing, type FileStore } from '../stores/ports/file-store.ts'
import type { OpenStockList } from '../trade-files/reading.ts'

/** Of temporary folders with stock lists. */
const PREFIX = 'adamant-import-'

/** Makes a temporary folder for a stock list. @returns its path */
export const makeStockListFolder = (): Promise<string> => mkdtemp(join(tmpdir(), PREFIX))

/** Longer than any import takes. */
const ABANDONED_AFTER_MS = 24 * 3_600_000

/**
 * Removes the copies of stock lists that killed processes left behind a day ago or earlier.
 * @param folder of temporary files @param now milliseconds since 1970
 */
export async function removeAbandonedCopies(folder: string, now: number): Promise<void> {
  const names = await readdir(folder)
  for (const path of names.filter((name) => name.startsWith(PREFIX)).map((name) => join(folder, name))) {
    try {
      const { mtimeMs } = await stat(path)
      if (now - mtimeMs > ABANDONED_AFTER_MS) await rm(path, { recursive: true })
    } catch {
      // Another process has removed it, or it is another user's.
    }
  }
}

/** Parsers need a file on this machine; it lives as long as the list is open. */
export async function withLocalCopy(
  files: FileStore,
  digest: string,
  open: (file: string, folder: string) => Promise<OpenStockList>,
): Promise<OpenStockList> {
  const folder = await makeStockListFolder()
  const openCopy = async () => {
    const content = await files.readFile(digest)
    if (content === undefined)
      throw new BytesMissing(`The event log refers to file ${digest}, which the file store does not have`)
    const file = join(folder, 'stock-list')
    await pipeline(content, createWriteStream(file, { mode: 0o600 }))
    return open(file, folder)
  }
  return withRelease(openCopy, () => rm(folder, { recursive: true, force: true }))
}

/** Releases what an open list needs when the list is closed, or cannot be opened. */
export async function withRelease(
  open: () => Promise<OpenStockList>,
  release: () => void | Promise<void>,
): Promise<OpenStockList> {
  try {
    const list = await open()
    return {
      ...list,
      async close() {
        await list.close()
        await release()
      },
    }
  } catch (error) {
    await release()
    throw error
  }
}
