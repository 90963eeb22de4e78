import Database from 'better-sqlite3'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { StoreUnavailable } from '../../ports/event-store.ts'
import {
  BUSY_TIMEOUT_MS,
  createOrMigrate,
  PUT_ASIDE,
  putAside,
  retryWhileBusy,
  type SqliteFileFormat,
} from '../database-file.ts'

/** Temporary errors after which nothing was changed, such as a full, failing or read-only disk or a lock held too long. */
const TRANSIENT_ERROR_CODES = /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|BUSY|NOMEM)/

/** @throws StoreUnavailable in place of a temporary SQLite error */
export function mapTransientErrors<Answer>(action: () => Answer): Answer {
  try {
    return action()
  } catch (error) {
    throw toStoreError(error)
  }
}

/** StoreUnavailable for a temporary SQLite error; every other error is returned as it is. */
export function toStoreError(error: unknown): unknown {
  if (!(error instanceof Database.SqliteError) || !TRANSIENT_ERROR_CODES.test(error.code)) return error
  return new StoreUnavailable(`the read models are unavailable: ${error.message}`, { cause: error })
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

/** Pages, 256 MB of WAL. A fallback, on the event loop: normally the checkpointer keeps the WAL shorter. */
const AUTOCHECKPOINT = 32_768

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
 * @throws UnreadableFile; SqliteError if the file is missing or damaged, or cannot be created
 */
export function openDatabase(
  path: string,
  format: SqliteFileFormat,
  { cacheKib, make }: { readonly cacheKib: number; readonly make: boolean },
): Database.Database {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) throw damage('it is a folder')
  const db = new Database(path, { timeout: OPENING_TIMEOUT, fileMustExist: !make })
  try {
    for (const setting of SETTINGS) db.pragma(setting)
    db.pragma(`cache_size = ${-cacheKib}`)
    if (!make && db.pragma('user_version', { simple: true }) === 0) throw damage('it is empty')
    createOrMigrate(db, format)
    db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

const damage = (message: string) => new Database.SqliteError(message, 'SQLITE_NOTADB')

/**
 * Renames a damaged file. Of those renamed earlier, none is kept: a failing disk must not fill up.
 * @param prefix of the file's name that all files of its kind share
 * @returns what happened, as the end of a sentence
 */
export function putReadModelAside(path: string, prefix: string, error: unknown): string {
  const folder = dirname(path)
  for (const name of readdirSync(folder)) {
    if (name.startsWith(prefix) && name.includes(PUT_ASIDE)) rmSync(join(folder, name), { recursive: true })
  }
  const aside = putAside(path)
  const reason = error instanceof Database.SqliteError ? `${error.code}: ${error.message}` : String(error)
  return `is damaged (${reason})${aside === undefined ? '' : ` and was renamed to ${aside}`}`
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
