import Database from 'better-sqlite3'
import { closeSync, openSync } from 'node:fs'
import { BUSY_TIMEOUT, demand, prepareFile, transactions, type FileFormat } from '../file.ts'
import { contentStatements, personStatements, statements } from './statements.ts'

/**
 * rowid tables, so that contents lie in the order of their making and only narrow indexes are random. Receipts stay
 * long and many, so even their index is in the order of time.
 * `claimed_until` is no time any more: a number that a mail's holder raises again and again.
 * The first 8 bytes of what the master key sealed are that key's id.
 */
const TABLES = `
CREATE TABLE entries (
  rowid INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  sealed BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  confirmed INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX entries_expiring ON entries (expires_at);
CREATE INDEX entries_unconfirmed ON entries (created_at) WHERE confirmed = 0;
CREATE TABLE receipts (
  rowid INTEGER PRIMARY KEY,
  digest TEXT NOT NULL,
  token TEXT NOT NULL,
  sealed BLOB NOT NULL,
  forgotten_at INTEGER NOT NULL,
  UNIQUE (forgotten_at, digest)
);
CREATE TABLE mails (
  rowid INTEGER PRIMARY KEY,
  digest TEXT NOT NULL,
  kind TEXT NOT NULL,
  sealed BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  due_at INTEGER,
  attempts INTEGER NOT NULL DEFAULT 0,
  claimant TEXT,
  claimed_until INTEGER NOT NULL DEFAULT 0,
  confirmed INTEGER NOT NULL DEFAULT 0,
  UNIQUE (digest, kind)
);
CREATE INDEX mails_due ON mails (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX mails_unconfirmed ON mails (created_at) WHERE confirmed = 0;
CREATE TABLE followed (one INTEGER PRIMARY KEY CHECK (one = 1), checkpoint TEXT NOT NULL);
`

/** `AdVt` in ASCII. */
const vaultFormat: FileFormat = {
  name: 'vault',
  applicationId: 0x41645674,
  versions: [(db: Database.Database) => void db.exec(TABLES)],
}

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
