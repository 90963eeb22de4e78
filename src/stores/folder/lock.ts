import Database from 'better-sqlite3'
import { join } from 'node:path'
import { StoreUnavailable } from '../ports/event-store.ts'

/** Milliseconds that opening waits for a process which only tries whether it is alone. */
const PATIENCE = 2_000

export type FolderLock = { release(): void }

/**
 * Held by every process that has an installation's folder open, for as long as it has; several hold it at once. The system
 * gives it back when its holder ends, however it ends.
 * @throws StoreUnavailable while another process has the folder for itself
 */
export const shareFolder = (folder: string): FolderLock =>
  lock(
    folder,
    (db) => {
      db.exec('BEGIN')
      // A transaction has no lock before it reads.
      db.prepare('SELECT count(*) FROM sqlite_schema').get()
    },
    `${folder} is being restored by another process: try again when that has ended`,
  )

/** The folder for one process alone. @throws StoreUnavailable while any other process has it open */
export const takeFolder = (folder: string): FolderLock =>
  lock(
    folder,
    (db) => db.exec('BEGIN EXCLUSIVE'),
    `Other processes have ${folder} open: stop the service and every command that works on it, and try again`,
  )

function lock(folder: string, take: (db: Database.Database) => void, busy: string): FolderLock {
  const db = new Database(join(folder, 'installation.lock'), { timeout: PATIENCE })
  try {
    take(db)
  } catch (error) {
    db.close()
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) throw new StoreUnavailable(busy)
    throw error
  }
  return { release: () => void db.close() }
}
