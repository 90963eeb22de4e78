import type Database from 'better-sqlite3'
import type { FileFormat } from '../file.ts'

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
export const vaultFormat: FileFormat = {
  name: 'vault',
  applicationId: 0x41645674,
  versions: [(db: Database.Database) => void db.exec(TABLES)],
}
