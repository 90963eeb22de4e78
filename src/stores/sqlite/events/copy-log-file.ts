import Database from 'better-sqlite3'
import { closeSync, fsyncSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { StoreUnavailable } from '../../ports/event-store.ts'

/** Pages of 4 KiB that are copied between two turns of the event loop. */
const PAGES = 2_000

/**
 * Copies a log as it is at one moment into a new file, while others write: https://sqlite.org/backup.html. The read
 * transaction keeps that moment; without it each write of another process would make SQLite begin anew.
 * @param progress told the pages that are done, and how many there are
 */
export async function copyEventLogFile(
  file: string,
  to: string,
  progress: (done: number, total: number) => void,
): Promise<void> {
  const db = new Database(file, { readonly: true, fileMustExist: true })
  try {
    db.exec('BEGIN')
    db.prepare('SELECT count(*) FROM sqlite_schema').get()
    const { totalPages } = await db.backup(to, {
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
 * Makes a log that nobody has open one file, without a WAL beside it, on the disk: it can be copied or renamed alone.
 * @throws StoreUnavailable where the file is damaged
 */
export function finalizeLogFile(file: string): void {
  const db = new Database(file, { fileMustExist: true })
  try {
    const found = db.pragma('quick_check(1)', { simple: true })
    if (found !== 'ok') throw new StoreUnavailable(`${file} is damaged: ${String(found)}`)
    const mode = db.pragma('journal_mode = DELETE', { simple: true })
    if (mode !== 'delete') throw new StoreUnavailable(`${file} is in use: its journal mode stays ${String(mode)}`)
  } finally {
    db.close()
  }
  fsyncPath(file)
  fsyncPath(dirname(file))
}

/** What was written or renamed lasts when this has returned. */
export function fsyncPath(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
