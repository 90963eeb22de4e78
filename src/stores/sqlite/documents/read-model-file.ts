import Database from 'better-sqlite3'
import { rmSync } from 'node:fs'
import { StoreUnavailable } from '../../ports/event-store.ts'
import { BUSY_TIMEOUT_MS, createOrMigrate, retryWhileBusy, type SqliteFileFormat } from '../database-file.ts'

/** Temporary errors after which nothing was changed, such as a full, failing or read-only disk or a lock held too long. */
const TRANSIENT_ERROR_CODES = /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|BUSY|NOMEM)/

/** @throws StoreUnavailable in place of a temporary SQLite error */
export function mapTransientErrors<Answer>(action: () => Answer): Answer {
  try {
    return action()
  } catch (error) {
    if (error instanceof Database.SqliteError && TRANSIENT_ERROR_CODES.test(error.code))
      throw new StoreUnavailable(`the read models are unavailable: ${error.message}`, { cause: error })
    throw error
  }
}

/**
 * Retries a synchronous write while another process holds the file's lock.
 * @param action must change nothing if it throws
 * @throws StoreUnavailable in place of a temporary SQLite error
 */
export const retryWrite = <Answer>(action: () => Answer): Promise<Answer> =>
  retryWhileBusy(() => mapTransientErrors(action))

/** Milliseconds to wait for another process that is creating or migrating the file. */
const OPENING_TIMEOUT = 5_000

/** Bytes. Rows of 2.5 KB waste over a third of a 4 KiB page; with 8 KiB pages, a third less is written and stored. */
const PAGE_SIZE = 8192

/** Pages, 128 MB of WAL. A fallback: normally the checkpointer keeps the WAL shorter. */
const AUTOCHECKPOINT = 16_384

/**
 * synchronous = NORMAL is sufficient because read models can be rebuilt from the log: a power failure may lose the last
 * transactions, but never part of one. No mmap: it would cover little of a large file, and mapped pages count as the
 * process's memory.
 */
const SETTINGS = [
  `page_size = ${PAGE_SIZE}`,
  'journal_mode = WAL',
  'synchronous = NORMAL',
  'temp_store = MEMORY',
  `wal_autocheckpoint = ${AUTOCHECKPOINT}`,
]

/**
 * Opens a file of this format. Creates it if `make` is true.
 * @param cacheKib size of SQLite's page cache, in KiB
 * @throws UnreadableFile; SqliteError if the file is missing or cannot be created
 */
export function openDatabase(
  path: string,
  format: SqliteFileFormat,
  { cacheKib, make }: { readonly cacheKib: number; readonly make: boolean },
): Database.Database {
  const db = new Database(path, { timeout: OPENING_TIMEOUT, fileMustExist: !make })
  try {
    for (const setting of SETTINGS) db.pragma(setting)
    db.pragma(`cache_size = ${-cacheKib}`)
    createOrMigrate(db, format)
    db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Whether any process has the file open. SQLite's lock ends with its process, even a killed one. */
export function isOpenSomewhere(path: string): boolean {
  try {
    const db = new Database(path, { timeout: 0, fileMustExist: true })
    try {
      db.pragma('locking_mode = EXCLUSIVE')
      db.exec('BEGIN EXCLUSIVE; ROLLBACK')
      return false
    } finally {
      db.close()
    }
  } catch (error) {
    return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')
  }
}

export function removeFile(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
}
