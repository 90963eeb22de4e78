import Database from 'better-sqlite3'
import { join } from 'node:path'
import { StoreUnavailable } from '../ports/event-store.ts'

/** Milliseconds that opening waits for a process which only tries whether it is alone. */
const LOCK_TIMEOUT_MS = 2_000

export type FolderLock = { release(): void }

/**
 * Held by every process that has an installation's folder open, for as long as it has; several hold it at once.
 * @throws StoreUnavailable while another process has the folder for itself
 */
export const lockFolderShared = (folder: string): FolderLock =>
  lockFolder(folder, 'shared') ??
  refused(`${folder} is being restored by another process: try again when that has ended`)

/** The folder for one process alone. @throws StoreUnavailable while any other process has it open */
export const lockFolderExclusive = (folder: string): FolderLock =>
  lockFolder(folder, 'exclusive') ??
  refused(`Other processes have ${folder} open: stop the service and every command that works on it, and try again`)

const lockFolder = (folder: string, mode: 'shared' | 'exclusive') =>
  lockFile(join(folder, 'installation.lock'), mode, LOCK_TIMEOUT_MS)

function refused(busy: string): never {
  throw new StoreUnavailable(busy)
}

/**
 * A lock on a file of its own, which the system gives back when its holder ends, however it ends.
 * @returns undefined where others hold it for longer than `patienceMs`
 */
export function lockFile(file: string, mode: 'shared' | 'exclusive', patienceMs: number): FolderLock | undefined {
  const db = new Database(file, { timeout: patienceMs })
  try {
    db.exec(mode === 'exclusive' ? 'BEGIN EXCLUSIVE' : 'BEGIN')
    // A transaction has no shared lock before it reads.
    if (mode === 'shared') db.prepare('SELECT count(*) FROM sqlite_schema').get()
    return { release: () => void db.close() }
  } catch (error) {
    db.close()
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) return undefined
    throw error
  }
}
