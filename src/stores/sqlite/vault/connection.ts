import Database from 'better-sqlite3'
import { closeSync, openSync } from 'node:fs'
import { BUSY_TIMEOUT } from '../busy.ts'
import { demand, prepareFile } from '../file.ts'
import { transactions } from '../open-file.ts'
import { contentStatements } from './content-statements.ts'
import { vaultFormat } from './format.ts'
import { personStatements } from './person-statements.ts'
import { statements } from './statements.ts'

/** Milliseconds that opening waits for another process which makes the file. */
const OPENING_TIMEOUT = 10_000

export type Connection = ReturnType<typeof connect>

/**
 * Opens the vault so that deleted bytes are overwritten. A commit lasts when the WAL, `wal`, is on the disk, which is the
 * caller's to see to: SQLite would keep the event loop waiting for it.
 * @see https://sqlite.org/pragma.html#pragma_synchronous (NORMAL)
 * @throws UnreadableFile, StoreUnavailable
 */
export function connect(file: string) {
  const db = new Database(file, { timeout: OPENING_TIMEOUT })
  try {
    demand(db, 'journal_mode', 'WAL', 'wal')
    demand(db, 'synchronous', 'NORMAL', 1)
    // Zeroes what a deletion frees: https://sqlite.org/pragma.html#pragma_secure_delete
    demand(db, 'secure_delete', 'ON', 1)
    // Nothing of a query's or a transaction's inside is ever spilled into a file beside the vault.
    demand(db, 'temp_store', 'MEMORY', 2)
    prepareFile(db, vaultFormat)
    demand(db, 'wal_autocheckpoint', '0', 0)
    db.pragma(`busy_timeout = ${BUSY_TIMEOUT}`)
    // SQLite has no lock on this file, which closing a descriptor of it would lose.
    const wal = openSync(`${file}-wal`, 'r+')
    const close = () => {
      // The number of a descriptor that was closed already is another file's by now.
      if (!db.open) return
      closeSync(wal)
      db.close()
    }
    return { db, wal, close, ...transactions(db), ...statements(db), ...contentStatements(db), ...personStatements(db) }
  } catch (error) {
    db.close()
    throw error
  }
}
