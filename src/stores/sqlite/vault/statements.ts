import type Database from 'better-sqlite3'
import type { MailName } from '../../../domain/secret/secret.ts'

type ClaimedMailRow = { digest: string; kind: MailName; sealed: Buffer; attempts: number }
type ClaimRow = { digest: string; kind: MailName; claimant: string | null; number: number }
type SealedRow = { name: string; sealed: Buffer }

export const statements = (db: Database.Database) => ({
  ...entryStatements(db),
  ...mailStatements(db),
  counts: db.prepare<[], { secrets: number; receipts: number; mails: number }>(
    `SELECT (SELECT count(*) FROM entries) AS secrets, (SELECT count(*) FROM receipts) AS receipts,
       (SELECT count(*) FROM mails WHERE due_at IS NOT NULL) AS mails`,
  ),
  checkpoint: db.prepare<[], string>('SELECT checkpoint FROM followed').pluck(),
  saveCheckpoint: db.prepare<[string]>(
    'INSERT INTO followed VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET checkpoint = excluded.checkpoint',
  ),
})

const entryStatements = (db: Database.Database) => ({
  insertEntry: db.prepare<[string, Buffer, number, number]>(
    'INSERT INTO entries (digest, sealed, created_at, expires_at) VALUES (?, ?, ?, ?)',
  ),
  insertReceipt: db.prepare<[string, string, Buffer, number]>(
    'INSERT INTO receipts (digest, token, sealed, forgotten_at) VALUES (?, ?, ?, ?)',
  ),
  entry: db.prepare<[string], Buffer>('SELECT sealed FROM entries WHERE digest = ?').pluck(),
  receipt: db.prepare<[number, string], { token: string; sealed: Buffer; forgotten_at: number }>(
    'SELECT token, sealed, forgotten_at FROM receipts WHERE forgotten_at = ? AND digest = ?',
  ),
  deleteEntry: db.prepare<[string]>('DELETE FROM entries WHERE digest = ?'),
  deleteReceipts: db.prepare<[number]>('DELETE FROM receipts WHERE forgotten_at <= ?'),
  expired: db
    .prepare<[number, number], string>('SELECT digest FROM entries WHERE expires_at <= ? ORDER BY expires_at LIMIT ?')
    .pluck(),
  unconfirmed: db
    .prepare<[number, number, number], string>(
      `SELECT digest FROM entries WHERE confirmed = 0 AND created_at < ?
       UNION SELECT digest FROM mails WHERE confirmed = 0 AND created_at < ? LIMIT ?`,
    )
    .pluck(),
  confirmEntry: db.prepare<[string]>('UPDATE entries SET confirmed = 1 WHERE digest = ?'),
  entriesOfOtherKeys: db.prepare<[Buffer, string, number], SealedRow>(
    `SELECT digest AS name, sealed FROM entries
     WHERE substr(sealed, 1, 8) <> ? AND digest > ? ORDER BY digest LIMIT ?`,
  ),
  resealEntry: db.prepare<[Buffer, string, Buffer]>('UPDATE entries SET sealed = ? WHERE digest = ? AND sealed = ?'),
})

const mailStatements = (db: Database.Database) => ({
  insertMail: db.prepare<[string, MailName, Buffer, number, number | null]>(
    'INSERT INTO mails (digest, kind, sealed, created_at, due_at) VALUES (?, ?, ?, ?, ?)',
  ),
  deleteMail: db.prepare<[string, MailName]>('DELETE FROM mails WHERE digest = ? AND kind = ?'),
  deleteLinks: db.prepare<[string]>("DELETE FROM mails WHERE digest = ? AND kind <> 'notice'"),
  makeDue: db.prepare<[number, string]>(
    "UPDATE mails SET due_at = ? WHERE digest = ? AND kind = 'notice' AND due_at IS NULL",
  ),
  freeMail: db.prepare<[from: number, to: number], ClaimRow>(
    `SELECT digest, kind, claimant, claimed_until AS number FROM mails
     WHERE due_at BETWEEN ? AND ? AND claimant IS NULL ORDER BY due_at LIMIT 1`,
  ),
  heldMails: db.prepare<[from: number, to: number], ClaimRow>(
    `SELECT digest, kind, claimant, claimed_until AS number FROM mails
     WHERE due_at BETWEEN ? AND ? AND claimant IS NOT NULL ORDER BY due_at`,
  ),
  claim: db.prepare<[string, string, MailName, string | null, number, due: number, ahead: number], ClaimedMailRow>(
    `UPDATE mails SET claimant = ?, claimed_until = claimed_until + 1, attempts = attempts + 1
     WHERE digest = ? AND kind = ? AND claimant IS ? AND claimed_until = ? AND (due_at <= ? OR due_at > ?)
     RETURNING digest, kind, sealed, attempts`,
  ),
  renew: db.prepare<[string, MailName, string]>(
    'UPDATE mails SET claimed_until = claimed_until + 1 WHERE digest = ? AND kind = ? AND claimant = ?',
  ),
  probe: db.prepare<[string, MailName, string, number]>(
    'UPDATE mails SET due_at = due_at - 1 WHERE digest = ? AND kind = ? AND claimant = ? AND claimed_until = ?',
  ),
  postpone: db.prepare<[number, string, MailName, string]>(
    `UPDATE mails SET due_at = ?, claimant = NULL, claimed_until = claimed_until + 1
     WHERE digest = ? AND kind = ? AND claimant = ?`,
  ),
  nextMail: db.prepare<[], number | null>('SELECT min(due_at) FROM mails WHERE due_at IS NOT NULL').pluck(),
  lastMail: db.prepare<[], number | null>('SELECT max(due_at) FROM mails WHERE due_at IS NOT NULL').pluck(),
  confirmMails: db.prepare<[string]>('UPDATE mails SET confirmed = 1 WHERE digest = ?'),
  mailsOfOtherKeys: db.prepare<[Buffer, string, number], SealedRow>(
    `SELECT digest || '/' || kind AS name, sealed FROM mails
     WHERE substr(sealed, 1, 8) <> ? AND name > ? ORDER BY name LIMIT ?`,
  ),
  resealMail: db.prepare<[Buffer, string, MailName, Buffer]>(
    'UPDATE mails SET sealed = ? WHERE digest = ? AND kind = ? AND sealed = ?',
  ),
})

export type VaultRow = { readonly rowid: number; readonly digest: string; readonly sealed: Buffer }
export type EntryRow = VaultRow & {
  readonly created_at: number
  readonly expires_at: number
  readonly confirmed: number
}
export type ReceiptRow = VaultRow & { readonly token: string; readonly forgotten_at: number }
export type MailRow = Omit<EntryRow, 'expires_at'> & { readonly kind: MailName; readonly due_at: number | null }

export const contentStatements = (db: Database.Database) => ({
  entriesAfter: db.prepare<[number, number], EntryRow>('SELECT * FROM entries WHERE rowid > ? ORDER BY rowid LIMIT ?'),
  receiptsAfter: db.prepare<[number, number], ReceiptRow>(
    'SELECT * FROM receipts WHERE rowid > ? ORDER BY rowid LIMIT ?',
  ),
  mailsAfter: db.prepare<[number, number], MailRow>('SELECT * FROM mails WHERE rowid > ? ORDER BY rowid LIMIT ?'),
  restoreEntry: db.prepare<[string, Buffer, number, number, number]>(
    'INSERT OR IGNORE INTO entries (digest, sealed, created_at, expires_at, confirmed) VALUES (?, ?, ?, ?, ?)',
  ),
  restoreReceipt: db.prepare<[string, string, Buffer, number]>(
    'INSERT OR IGNORE INTO receipts (digest, token, sealed, forgotten_at) VALUES (?, ?, ?, ?)',
  ),
  restoreMail: db.prepare<[string, MailName, Buffer, number, number | null, number]>(
    'INSERT OR IGNORE INTO mails (digest, kind, sealed, created_at, due_at, confirmed) VALUES (?, ?, ?, ?, ?, ?)',
  ),
})

type StoredPersonRow = { readonly account: number; readonly sealed: Buffer; readonly at: number }

/**
 * The persons' table, which is not part of the vault's format version; older releases ignore it. It is in the vault's
 * file because deleted data is overwritten there, including the WAL. An erased account keeps an empty row.
 */
export function personStatements(db: Database.Database) {
  db.exec(`CREATE TABLE IF NOT EXISTS persons (
    account INTEGER PRIMARY KEY,
    sealed BLOB NOT NULL,
    at INTEGER NOT NULL,
    confirmed INTEGER NOT NULL DEFAULT 0
  )`)
  return {
    putPerson: db.prepare<[number, Buffer, number]>(
      'INSERT OR REPLACE INTO persons (account, sealed, at, confirmed) VALUES (?, ?, ?, 0)',
    ),
    restorePerson: db.prepare<[number, Buffer, number]>(
      'INSERT OR IGNORE INTO persons (account, sealed, at, confirmed) VALUES (?, ?, ?, 0)',
    ),
    person: db.prepare<[number], Buffer>("SELECT sealed FROM persons WHERE account = ? AND sealed <> x''").pluck(),
    forgetPerson: db.prepare<[number]>(
      "INSERT OR REPLACE INTO persons (account, sealed, at, confirmed) VALUES (?, x'', 0, 1)",
    ),
    unconfirmedPersons: db
      .prepare<[number, number], number>('SELECT account FROM persons WHERE confirmed = 0 AND at < ? LIMIT ?')
      .pluck(),
    confirmPerson: db.prepare<[number]>('UPDATE persons SET confirmed = 1 WHERE account = ?'),
    personsAfter: db.prepare<[number, number], StoredPersonRow>(
      "SELECT account, sealed, at FROM persons WHERE account > ? AND sealed <> x'' ORDER BY account LIMIT ?",
    ),
  }
}
