import Database from 'better-sqlite3'
import { closeSync, fsyncSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { StoreUnavailable } from '../../ports/event-store.ts'
import { isDamage, requireIntact, toDamagedStore } from '../database-file.ts'
import { LOG_DAMAGE_REMEDY } from './connection.ts'

/** Pages of 4 KiB copied per turn of the event loop. */
const PAGES = 2_000

/**
 * Copies a snapshot of the log into a new file while others write: https://sqlite.org/backup.html. The read transaction
 * keeps the snapshot; without it, SQLite restarts the backup after each write of another process.
 * @param progress called with the number of copied pages and the total
 */
export async function copyEventLogFile(
  file: string,
  targetFile: string,
  progress: (done: number, total: number) => void,
): Promise<void> {
  const db = new Database(file, { readonly: true, fileMustExist: true })
  try {
    db.exec('BEGIN')
    db.prepare('SELECT count(*) FROM sqlite_schema').get()
    const { totalPages } = await db.backup(targetFile, {
      progress({ totalPages, remainingPages }) {
        progress(totalPages - remainingPages, totalPages)
        return PAGES
      },
    })
    progress(totalPages, totalPages)
  } finally {
    db.close()
  }
}

/**
 * Turns a log that no process has open into a single synced file without a WAL, which can be copied or renamed alone.
 * @throws DamagedStore; StoreUnavailable if the file is in use
 */
export function finalizeLogFile(file: string): void {
  const db = new Database(file, { fileMustExist: true })
  try {
    requireIntact(db, 'quick_check')
    const mode = db.pragma('journal_mode = DELETE', { simple: true })
    if (mode !== 'delete')
      throw new StoreUnavailable(`${file} is in use: its journal mode must be delete, got ${String(mode)}`)
  } catch (error) {
    throw isDamage(error) ? toDamagedStore(file, LOG_DAMAGE_REMEDY, error) : error
  } finally {
    db.close()
  }
  fsyncPath(file)
  fsyncPath(dirname(file))
}

export function fsyncPath(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
