import Database from 'better-sqlite3'
import { rmSync } from 'node:fs'
import { StoreUnavailable } from '../../ports/event-store.ts'
import { BUSY_TIMEOUT_MS, createOrMigrate, retryWhileBusy, type SqliteFileFormat } from '../database-file.ts'

/** A full disk, a failing or read-only one, a lock held too long: they pass, and nothing was changed. */
const TRANSIENT_ERROR_CODES = /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|BUSY|NOMEM)/

/** @throws StoreUnavailable in place of SQLite's errors that pass */
export function mapTransientErrors<Answer>(action: () => Answer): Answer {
  try {
    return action()
  } catch (error) {
    if (error instanceof Database.SqliteError && TRANSIENT_ERROR_CODES.test(error.code))
      throw new StoreUnavailable(`the read models can't be used now: ${error.message}`, { cause: error })
    throw error
  }
}

/**
 * Does something that writes, and waits where another program holds the file's lock.
 * @param action changes nothing where it throws
 * @throws StoreUnavailable in place of SQLite's errors that pass
 */
export const retryWrite = <Answer>(action: () => Answer): Promise<Answer> =>
  retryWhileBusy(() => mapTransientErrors(action))

/** Milliseconds that opening waits for another process that makes or migrates the file. */
const OPENING_TIMEOUT = 5_000

/** Bytes. A row of 2.5 KB wastes over a third of a page of 4 KiB: 8 KiB write a third less and fill a third less. */
const PAGE_SIZE = 8192

/** Pages: 128 MB of WAL, which the checkpointer normally never lets it reach. */
const AUTOCHECKPOINT = 16_384

/**
 * NORMAL is enough for what the log can rebuild: a power failure may lose the last transactions, never half of one.
 * Nothing is mapped: of a large file little would be, and mapped pages count as the process's memory.
 */
const SETTINGS = [
  `page_size = ${PAGE_SIZE}`,
  'journal_mode = WAL',
  'synchronous = NORMAL',
  'temp_store = MEMORY',
  `wal_autocheckpoint = ${AUTOCHECKPOINT}`,
]

/**
 * Opens a file of this format, and makes it where `make` says so.
 * @param cache what SQLite may keep of it in memory, in KiB
 * @throws UnreadableFile; SqliteError when it is missing or can't be made
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

/** True while any process has the file open: SQLite holds a lock on it that ends with the process, killed or not. */
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
