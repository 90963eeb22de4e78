import Database from 'better-sqlite3'
import type { Lease } from '../ports/read-store.ts'

/**
 * A lease as long as the process lives: an exclusive lock on a file of its own, which the system gives back when its
 * holder ends, however it ends.
 * @returns undefined while another process holds it
 */
export function takeLease(file: string): Lease | undefined {
  const db = new Database(file, { timeout: 0 })
  try {
    db.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) return undefined
    throw error
  }
  return { release: async () => void db.close(), lost: new Promise(() => undefined) }
}
