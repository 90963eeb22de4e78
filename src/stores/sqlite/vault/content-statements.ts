import type Database from 'better-sqlite3'
import type { MailName } from '../../../domain/secret/secret.ts'

export type Row = { readonly rowid: number; readonly digest: string; readonly sealed: Buffer }
export type EntryRow = Row & { readonly created_at: number; readonly expires_at: number; readonly confirmed: number }
export type ReceiptRow = Row & { readonly token: string; readonly forgotten_at: number }
export type MailRow = Omit<EntryRow, 'expires_at'> & { readonly kind: MailName; readonly due_at: number | null }

export const contentStatements = (db: Database.Database) => ({
  entriesBehind: db.prepare<[number, number], EntryRow>('SELECT * FROM entries WHERE rowid > ? ORDER BY rowid LIMIT ?'),
  receiptsBehind: db.prepare<[number, number], ReceiptRow>(
    'SELECT * FROM receipts WHERE rowid > ? ORDER BY rowid LIMIT ?',
  ),
  mailsBehind: db.prepare<[number, number], MailRow>('SELECT * FROM mails WHERE rowid > ? ORDER BY rowid LIMIT ?'),
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
