import Database from 'better-sqlite3'
import {
  BUSY_TIMEOUT_MS,
  createOrMigrate,
  prepareTransactionStatements,
  requirePragma,
  type SqliteFileFormat,
} from '../database-file.ts'
import { contentStatements, personStatements, statements } from './statements.ts'

/**
 * Tables with a rowid: rows are stored in order of insertion, and only narrow indexes are random. Receipts are many and
 * long-lived, so even their index is ordered by time.
 * `claimed_until` is not a time but a counter that a mail's claimant increases as a heartbeat; the name is historical.
 * The first 8 bytes of data sealed with the master key are the key's id.
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
const vaultFormat: SqliteFileFormat = {
  name: 'vault',
  applicationId: 0x41645674,
  migrations: [(db: Database.Database) => void db.exec(TABLES)],
}

/** Milliseconds to wait for another process that is creating the file. */
const OPENING_TIMEOUT = 10_000

export type VaultConnection = ReturnType<typeof connect>

/**
 * Opens the vault so that deleted data is overwritten and every commit is synced to disk before it is acknowledged.
 * @throws UnreadableFile, StoreUnavailable
 */
export function connect(file: string) {
  const db = new Database(file, { timeout: OPENING_TIMEOUT })
  try {
    requirePragma(db, 'journal_mode', 'WAL', 'wal')
    requirePragma(db, 'synchronous', 'FULL', 2)
    // Zeroes freed pages: https://sqlite.org/pragma.html#pragma_secure_delete
    requirePragma(db, 'secure_delete', 'ON', 1)
    // Keeps intermediate results of queries and transactions out of temporary files.
    requirePragma(db, 'temp_store', 'MEMORY', 2)
    createOrMigrate(db, vaultFormat)
    requirePragma(db, 'wal_autocheckpoint', '0', 0)
    db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
    return {
      db,
      close: () => void db.close(),
      ...prepareTransactionStatements(db),
      ...statements(db),
      ...contentStatements(db),
      ...personStatements(db),
    }
  } catch (error) {
    db.close()
    throw error
  }
}

export const VAULT_DAMAGE_REMEDY =
  'stop the service, and run `adamant restore FROM --in-place` with the newest backup, which keeps the event log ' +
  'and restores the addresses of accounts; pending one-time secrets are lost'
