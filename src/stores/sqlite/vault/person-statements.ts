import type Database from 'better-sqlite3'

export type StoredPerson = { readonly account: number; readonly sealed: Buffer; readonly at: number }

/**
 * The rows of persons, in a table beside those of the vault's format: an older release passes it over. They lie in the
 * vault's file because that is where deleted bytes are overwritten, WAL and all. An account that was forgotten keeps a row
 * without bytes.
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
    putPersonBack: db.prepare<[number, Buffer, number]>(
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
    personsBehind: db.prepare<[number, number], StoredPerson>(
      "SELECT account, sealed, at FROM persons WHERE account > ? AND sealed <> x'' ORDER BY account LIMIT ?",
    ),
  }
}
