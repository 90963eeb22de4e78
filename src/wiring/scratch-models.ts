import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { openSqliteReadStore } from '../stores/sqlite/documents.ts'
import type { ReadStore } from '../stores/ports/read-store.ts'
import type { Settings } from './settings.ts'

const PREFIX = 'scratch-models-'

/**
 * Runs `work` with temporary read models in DATA_DIR, whose disk needs space for another copy of them. Only one process
 * at a time: leftovers of a killed process are removed.
 */
export async function withScratchModels<Result>(
  { DATA_DIR }: Pick<Settings, 'DATA_DIR'>,
  work: (scratch: ReadStore) => Promise<Result>,
): Promise<Result> {
  const dataDir = resolve(DATA_DIR)
  for (const name of readdirSync(dataDir)) if (name.startsWith(PREFIX)) remove(join(dataDir, name))
  const folder = mkdtempSync(join(dataDir, PREFIX))
  try {
    const scratch = openSqliteReadStore(folder)
    return await work(scratch).finally(() => scratch.close())
  } finally {
    remove(folder)
  }
}

const remove = (folder: string) => rmSync(folder, { recursive: true, force: true })
