import Database from 'better-sqlite3'
import { rmSync } from 'node:fs'

/** A SQLite file's kind and layout, written into its header. */
export type Format = { readonly what: string; readonly applicationId: number; readonly version: number }

/** Waiting for a lock happens only while another process recovers or closes a file: short. */
const LOCK_TIMEOUT = 5000

/**
 * Bounded memory: the cache is the only part that grows with use. Mapped pages would count as resident memory too.
 * NORMAL is enough for what the log can rebuild: a power failure may lose the last transactions, never half of one.
 */
const SETTINGS = ['journal_mode = WAL', 'synchronous = NORMAL', 'temp_store = MEMORY', 'wal_autocheckpoint = 2000']

/**
 * Makes a file of this format with the given tables.
 * @param cache in KiB
 */
export function createFile(path: string, format: Format, schema: string, cache: number): Database.Database {
  const db = new Database(path, { timeout: LOCK_TIMEOUT })
  db.pragma(`page_size = ${PAGE_SIZE}`)
  configure(db, cache)
  db.transaction(() => {
    db.exec(schema)
    db.pragma(`application_id = ${format.applicationId}`)
    db.pragma(`user_version = ${format.version}`)
  }).immediate()
  return db
}

/** A row of about 2.5 KB wastes over a third of a page of 4 KiB. */
const PAGE_SIZE = 8192

/** @throws Error when the file is missing, of another kind, or of another version */
export function openFile(path: string, format: Format, cache: number): Database.Database {
  const db = new Database(path, { timeout: LOCK_TIMEOUT, fileMustExist: true })
  try {
    configure(db, cache)
    checkFormat(db, path, format)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

function configure(db: Database.Database, cache: number): void {
  for (const setting of SETTINGS) db.pragma(setting)
  db.pragma(`cache_size = ${-cache}`)
}

function checkFormat(db: Database.Database, path: string, format: Format): void {
  const application = db.pragma('application_id', { simple: true })
  const version = Number(db.pragma('user_version', { simple: true }))
  if (application !== format.applicationId) throw new Error(`${path} is not ${format.what} of this service`)
  if (version > format.version)
    throw new Error(`${path} was written by a newer release (format ${version}, this release knows ${format.version})`)
  if (version < format.version) throw new Error(`${path} has the old format ${version}: remove it to have it rebuilt`)
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
