import Database from 'better-sqlite3'
import { demand, prepareFile } from '../sqlite-file.ts'
import { contentStatements } from './contents.ts'
import { vaultFormat } from './format.ts'
import { statements } from './statements.ts'

/** Milliseconds that opening waits for another process which makes the file. */
const OPENING_TIMEOUT = 10_000
/** Milliseconds that one statement may hold the event loop for another process's lock. */
const BUSY_TIMEOUT = 5

export type Connection = ReturnType<typeof connect>

/**
 * Opens the vault so that commits are durable and deleted bytes are overwritten.
 * @throws UnreadableFile, StoreUnavailable
 */
export function connect(file: string) {
  const db = new Database(file, { timeout: OPENING_TIMEOUT })
  try {
    demand(db, 'journal_mode', 'WAL', 'wal')
    demand(db, 'synchronous', 'FULL', 2)
    // Zeroes what a deletion frees: https://sqlite.org/pragma.html#pragma_secure_delete
    demand(db, 'secure_delete', 'ON', 1)
    // Nothing of a query's or a transaction's inside is ever spilled into a file beside the vault.
    demand(db, 'temp_store', 'MEMORY', 2)
    prepareFile(db, vaultFormat)
    demand(db, 'wal_autocheckpoint', '0', 0)
    db.pragma(`busy_timeout = ${BUSY_TIMEOUT}`)
    return { db, ...statements(db), ...contentStatements(db) }
  } catch (error) {
    db.close()
    throw error
  }
}
