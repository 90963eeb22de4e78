import Database from 'better-sqlite3'
import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs'
import { OutcomeUnknown, StoreUnavailable } from '../ports/event-store.ts'

/** Milliseconds that one statement may hold the event loop for another program's lock. */
export const BUSY_TIMEOUT_MS = 5

/** Milliseconds that a change waits for other programs' locks before it is refused. */
export const BUSY_DEADLINE_MS = 5_000

const MIN_RETRY_DELAY_MS = 1
const MAX_RETRY_DELAY_MS = 32

/** Milliseconds until the next try: soon where a transaction of this service holds the lock, seldom where another program does. */
export const retryDelayMs = (tries: number): number =>
  Math.min(MAX_RETRY_DELAY_MS, MIN_RETRY_DELAY_MS * 2 ** Math.min(tries - 1, 10))

/** True of a change that another program's lock kept from being made. */
export const isBusy = (error: unknown): boolean =>
  error instanceof StoreUnavailable &&
  error.cause instanceof Database.SqliteError &&
  error.cause.code.startsWith('SQLITE_BUSY')

/**
 * Does something that writes to a file, again and again while another program holds the file's lock; the event loop goes
 * on between the tries.
 * @param action changes nothing where it throws
 * @throws StoreUnavailable where the lock was held for too long; else what the action throws
 */
export async function retryWhileBusy<Answer>(action: () => Answer, deadline = BUSY_DEADLINE_MS): Promise<Answer> {
  const started = performance.now()
  for (let tries = 1; ; tries++) {
    try {
      return action()
    } catch (error) {
      if (!isBusy(error) || performance.now() - started >= deadline) throw error
    }
    await new Promise((over) => setTimeout(over, retryDelayMs(tries)))
  }
}

/** What a SQLite file of ours is: `versions[n]` takes a file from version n to n + 1, so that a new file runs them all. */
export type SqliteFileFormat = {
  /** Words for messages, such as `event log`. */
  readonly name: string
  /** Four bytes at offset 68 of the file: https://sqlite.org/pragma.html#pragma_application_id */
  readonly applicationId: number
  readonly migrations: readonly ((db: Database.Database) => void)[]
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
export function createOrMigrate(db: Database.Database, format: SqliteFileFormat): void {
  if (requireSupportedVersion(db, format) === format.migrations.length) return
  db.exec('BEGIN IMMEDIATE')
  try {
    const version = requireSupportedVersion(db, format)
    if (version > 0 && version < format.migrations.length) copyFile(db, version)
    for (const migrate of format.migrations.slice(version)) migrate(db)
    db.pragma(`application_id = ${format.applicationId}`)
    db.pragma(`user_version = ${format.migrations.length}`)
    db.exec('COMMIT')
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK')
    throw error
  }
}

function requireSupportedVersion(db: Database.Database, { name, applicationId, migrations }: SqliteFileFormat): number {
  const found = Number(db.pragma('application_id', { simple: true }))
  const version = Number(db.pragma('user_version', { simple: true }))
  const empty = db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() === 0
  if (found !== applicationId && !empty) {
    throw new UnreadableFile(`${db.name} is not an ${name} of Adamant (application_id ${found}, not ${applicationId})`)
  }
  if (version > migrations.length) {
    throw new UnreadableFile(
      `${db.name} is an ${name} of version ${version}, made by a newer release; this one reads up to ${migrations.length}: ` +
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
export function requirePragma(db: Database.Database, pragma: string, value: string, expected: string | number): void {
  db.pragma(`${pragma} = ${value}`)
  const actual = db.pragma(pragma, { simple: true })
  if (actual !== expected) throw new StoreUnavailable(`${db.name}: ${pragma} is ${String(actual)}, not ${value}`)
}

/** A connection to a file, with what begins and ends its transactions. */
export type TransactionalConnection = {
  readonly db: Database.Database
  readonly begin: Database.Statement<[]>
  readonly commit: Database.Statement<[]>
  readonly rollback: Database.Statement<[]>
  /** Done twice, it changes nothing more. */
  close(): void
}

/** What a connection's transactions are made of: prepared once, since db.transaction() makes its functions anew each time. */
export const prepareTransactionStatements = (db: Database.Database) => ({
  begin: db.prepare<[]>('BEGIN IMMEDIATE'),
  commit: db.prepare<[]>('COMMIT'),
  rollback: db.prepare<[]>('ROLLBACK'),
})

/** The connection to a file, opened again by its next user after a failed commit. */
export class DatabaseFile<On extends TransactionalConnection> {
  #connection: On | undefined
  #isClosed = false

  /** @throws what `connect` does */
  constructor(
    readonly path: string,
    private readonly connect: (path: string) => On,
  ) {
    this.#connection = connect(path)
  }

  /** @throws StoreUnavailable for a failure of the file; what was under way is rolled back */
  use<Result>(work: (connection: On) => Result): Result {
    if (this.#isClosed) throw new StoreUnavailable(`${this.path} is closed`)
    try {
      this.#connection ??= this.connect(this.path)
      return work(this.#connection)
    } catch (error) {
      this.#rollback()
      if (!(error instanceof Database.SqliteError)) throw error
      throw new StoreUnavailable(describeWriteError(this.path, error), { cause: error })
    }
  }

  /** @throws OutcomeUnknown when the commit fails: its frames may be in the WAL, where a later opening finds them */
  commit(connection: On): void {
    try {
      connection.commit.run()
    } catch (error) {
      this.#rollback()
      this.#connection = undefined
      connection.close()
      const why = error instanceof Database.SqliteError ? describeWriteError(this.path, error) : String(error)
      throw new OutcomeUnknown(`${why}; the commit failed, and what it holds may be stored or not`, { cause: error })
    }
  }

  close(): void {
    this.#isClosed = true
    this.#connection?.close()
    this.#connection = undefined
  }

  #rollback(): void {
    const connection = this.#connection
    if (connection?.db.inTransaction !== true) return
    try {
      connection.rollback.run()
    } catch {
      // A connection that can't even roll back is given up; closing it rolls back.
      this.#connection = undefined
      connection.close()
    }
  }
}

/** What an operator does about SQLite's errors that a disk causes, by the beginning of their code. */
const ERROR_ADVICE: Readonly<Record<string, string>> = {
  SQLITE_FULL: 'its disk is full: make room, and writes go on without a restart',
  SQLITE_IOERR: 'its disk fails: look at the system log, and at the disk',
  SQLITE_READONLY: 'its disk or its file is read-only: let this user write there',
  SQLITE_CANTOPEN: 'it can not be opened: look at its folder and whose it is',
}

/** What a failed write says in an operator's words; SQLite's own, with its code, where there is nothing better. */
function describeWriteError(
  path: string,
  { code, message }: { readonly code: string; readonly message: string },
): string {
  const known = Object.keys(ERROR_ADVICE).find((start) => code.startsWith(start))
  const why = known === undefined ? message : ERROR_ADVICE[known]
  return `${path} takes no writes: ${why} (${code})`
}
