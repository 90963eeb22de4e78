import Database from 'better-sqlite3'
import { join } from 'node:path'
import { StoreUnavailable } from '../ports/event-store.ts'
import { isDamage } from '../sqlite/database-file.ts'

/** Milliseconds to wait for a process that holds the exclusive lock only to check that it is alone. */
const LOCK_TIMEOUT_MS = 2_000

export type FolderLock = { release(): void }

/**
 * A shared lock that every process holds while it has the installation's folder open.
 * @throws StoreUnavailable if another process holds the exclusive lock
 */
export const lockFolderShared = (folder: string): FolderLock =>
  lockFolder(folder, 'shared') ??
  throwUnavailable(`${folder} is being restored by another process: try again when the restore has finished`)

/** An exclusive lock on the folder. @throws StoreUnavailable if another process has the folder open */
export const lockFolderExclusive = (folder: string): FolderLock =>
  lockFolder(folder, 'exclusive') ??
  throwUnavailable(
    `Other processes have ${folder} open: stop the service and every command that uses it, and try again`,
  )

function lockFolder(folder: string, mode: 'shared' | 'exclusive'): FolderLock | undefined {
  const file = join(folder, 'installation.lock')
  try {
    return lockFile(file, mode, LOCK_TIMEOUT_MS)
  } catch (error) {
    if (!isDamage(error)) throw error
    return throwUnavailable(`${file} is damaged: stop every process that uses ${folder}, and delete the file`)
  }
}

function throwUnavailable(message: string): never {
  throw new StoreUnavailable(message)
}

/**
 * Locks a separate lock file. The operating system releases the lock when the process ends, however it ends.
 * @returns undefined if others still hold the lock after `timeoutMs`
 */
export function lockFile(file: string, mode: 'shared' | 'exclusive', timeoutMs: number): FolderLock | undefined {
  const db = new Database(file, { timeout: timeoutMs })
  try {
    db.exec(mode === 'exclusive' ? 'BEGIN EXCLUSIVE' : 'BEGIN')
    // A transaction takes its shared lock with the first read.
    if (mode === 'shared') db.prepare('SELECT count(*) FROM sqlite_schema').get()
    return { release: () => void db.close() }
  } catch (error) {
    db.close()
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) return undefined
    throw error
  }
}
