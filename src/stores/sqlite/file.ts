import Database from 'better-sqlite3'
import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs'
import { StoreUnavailable } from '../ports/event-store.ts'

/** What a SQLite file of ours is: `versions[n]` takes a file from version n to n + 1, so that a new file runs them all. */
export type FileFormat = {
  /** Words for messages, such as `event log`. */
  readonly name: string
  /** Four bytes at offset 68 of the file: https://sqlite.org/pragma.html#pragma_application_id */
  readonly applicationId: number
  readonly versions: readonly ((db: Database.Database) => void)[]
}

/** The file can't be opened by this release, and was not touched. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile'
}

/**
 * Makes a new file, brings an older one up to date, leaves a current one as it is.
 * An older file is copied to `{file}.version-{n}` first; the change itself is one transaction.
 * @throws UnreadableFile for another program's file and for a newer release's
 */
export function prepareFile(db: Database.Database, format: FileFormat): void {
  if (checkedVersion(db, format) === format.versions.length) return
  db.exec('BEGIN IMMEDIATE')
  try {
    const version = checkedVersion(db, format)
    if (version > 0 && version < format.versions.length) copyFile(db, version)
    for (const migrate of format.versions.slice(version)) migrate(db)
    db.pragma(`application_id = ${format.applicationId}`)
    db.pragma(`user_version = ${format.versions.length}`)
    db.exec('COMMIT')
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK')
    throw error
  }
}

function checkedVersion(db: Database.Database, { name, applicationId, versions }: FileFormat): number {
  const found = Number(db.pragma('application_id', { simple: true }))
  const version = Number(db.pragma('user_version', { simple: true }))
  const empty = db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() === 0
  if (found !== applicationId && !empty) {
    throw new UnreadableFile(`${db.name} is not an ${name} of Adamant (application_id ${found}, not ${applicationId})`)
  }
  if (version > versions.length) {
    throw new UnreadableFile(
      `${db.name} is an ${name} of version ${version}, made by a newer release; this one reads up to ${versions.length}: ` +
        'start the newer release, or restore a copy that is older',
    )
  }
  return version
}

/** Through a second connection, which sees the file as it was before the transaction that the first one holds. */
function copyFile(db: Database.Database, version: number): void {
  const copy = `${db.name}.version-${version}`
  rmSync(copy, { force: true })
  const reader = new Database(db.name, { readonly: true })
  try {
    reader.prepare('VACUUM INTO ?').run(copy)
  } finally {
    reader.close()
  }
  const descriptor = openSync(copy, 'r+')
  fsyncSync(descriptor)
  closeSync(descriptor)
}

/**
 * Sets what a promise rests on, and reads it back: SQLite passes over a setting that it can't take.
 * @throws StoreUnavailable when it does not hold
 */
export function demand(db: Database.Database, pragma: string, value: string, expected: string | number): void {
  db.pragma(`${pragma} = ${value}`)
  const actual = db.pragma(pragma, { simple: true })
  if (actual !== expected) throw new StoreUnavailable(`${db.name}: ${pragma} is ${String(actual)}, not ${value}`)
}
