import Database from 'better-sqlite3'
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { codeOf } from '../folder/directory-layout.ts'
import { DamagedStore, OutcomeUnknown, StoreUnavailable } from '../ports/event-store.ts'

/** Milliseconds that one statement may block the event loop while another process holds the lock. */
export const BUSY_TIMEOUT_MS = 5

/** Milliseconds that a change waits for other processes' locks before it fails. */
export const BUSY_DEADLINE_MS = 5_000

const MIN_RETRY_DELAY_MS = 1
const MAX_RETRY_DELAY_MS = 32

/**
 * Milliseconds until the next attempt: exponential back-off, because locks of this service are short and those of other
 * programs long.
 */
const retryDelayMs = (tries: number): number =>
  Math.min(MAX_RETRY_DELAY_MS, MIN_RETRY_DELAY_MS * 2 ** Math.min(tries - 1, 10))

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Whether a statement failed because another process holds the file's lock. */
export const isBusyError = (error: unknown): boolean =>
  error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')

/** Whether a change failed for that reason. */
export const isBusy = (error: unknown): boolean => error instanceof StoreUnavailable && isBusyError(error.cause)

/** Whether the content of a file is damaged. SQLITE_IOERR is a fault of the disk, which may be temporary. */
export const isDamage = (error: unknown): error is SqliteErrorFields =>
  error instanceof Database.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code)

/**
 * Reads the whole file.
 * @param check `integrity_check` also compares each index with its table: https://sqlite.org/pragma.html
 * @throws SqliteError for which `isDamage` is true
 */
export function requireIntact(db: Database.Database, check: 'quick_check' | 'integrity_check'): void {
  const lines = String(db.pragma(`${check}(1)`, { simple: true })).split('\n')
  // The first line of a report only names the database.
  const damage = lines.find((line) => !line.startsWith('***'))
  if (damage !== 'ok') throw new Database.SqliteError(damage ?? check, 'SQLITE_CORRUPT')
}

/** Prepares a count of the WAL's pages that are not in the database file yet. It takes a few microseconds. */
export function prepareWalCount(db: Database.Database): () => number {
  const state = db.prepare<[], [busy: number, pages: number, moved: number]>('PRAGMA wal_checkpoint(NOOP)').raw()
  return () => {
    const [, pages = 0, moved = 0] = state.get() ?? []
    return pages - moved
  }
}

/** @param error for which `isDamage` is true */
export const toDamagedStore = (file: string, remedy: string, error: SqliteErrorFields): DamagedStore =>
  new DamagedStore(file, remedy, { detail: `${error.code}: ${error.message}`, cause: error })

/** Follows the name of a file that was put aside. */
export const PUT_ASIDE = '.damaged-'

/**
 * Renames a file to `{file}.damaged-{time}`, with its WAL, whose frames must not be applied to another file.
 * @returns the new path; undefined if another process was faster
 */
export function putAside(file: string): string | undefined {
  const aside = `${file}${PUT_ASIDE}${new Date().toISOString().replaceAll(':', '-')}`
  renameIfExists(`${file}-wal`, `${aside}-wal`)
  renameIfExists(`${file}-shm`, `${aside}-shm`)
  return renameIfExists(file, aside) ? aside : undefined
}

function renameIfExists(from: string, to: string): boolean {
  try {
    renameSync(from, to)
    return true
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}

/** Identifies the file itself: a file that replaces it under the same name has another one. Undefined if there is none. */
export const inodeOf = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.ino

/**
 * Retries a synchronous write while another process holds the file's lock. The event loop runs between the attempts.
 * @param action must change nothing if it throws
 * @throws StoreUnavailable if the lock was not released before the deadline; otherwise the error of `action`
 */
export async function retryWhileBusy<Answer>(action: () => Answer, deadlineMs = BUSY_DEADLINE_MS): Promise<Answer> {
  const started = performance.now()
  for (let tries = 1; ; tries++) {
    try {
      return action()
    } catch (error) {
      if (!isBusy(error) || performance.now() - started >= deadlineMs) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, retryDelayMs(tries)))
  }
}

/**
 * The format of one of our SQLite files. `migrations[n]` migrates a file from version n to n + 1; a new file runs all
 * of them.
 */
export type SqliteFileFormat = {
  /** Display name, such as `event log`. */
  readonly name: string
  /** Four bytes at offset 68 of the file: https://sqlite.org/pragma.html#pragma_application_id */
  readonly applicationId: number
  readonly migrations: readonly ((db: Database.Database) => void)[]
}

/** The file cannot be opened by this release. It was not changed. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile'
}

/**
 * Creates the schema in a new file and migrates an older file, in one transaction. An older file is copied to
 * `{file}.version-{n}` first. Does nothing for a current file.
 * @throws UnreadableFile for a file of another program or of a newer release
 */
export function createOrMigrate(db: Database.Database, format: SqliteFileFormat): void {
  if (requireSupportedVersion(db, format) === format.migrations.length) return
  const migrateFile = db.transaction(() => {
    const version = requireSupportedVersion(db, format)
    if (version > 0 && version < format.migrations.length) copyFile(db, version)
    for (const migrate of format.migrations.slice(version)) migrate(db)
    db.pragma(`application_id = ${format.applicationId}`)
    db.pragma(`user_version = ${format.migrations.length}`)
  })
  migrateFile.immediate()
}

function requireSupportedVersion(db: Database.Database, { name, applicationId, migrations }: SqliteFileFormat): number {
  const found = Number(db.pragma('application_id', { simple: true }))
  const version = Number(db.pragma('user_version', { simple: true }))
  const isEmpty = db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() === 0
  if (found !== applicationId && !isEmpty) {
    throw new UnreadableFile(`${db.name} is not an ${name} of Adamant (application_id ${found}, not ${applicationId})`)
  }
  if (version > migrations.length) {
    throw new UnreadableFile(
      `${db.name} is an ${name} of version ${version}, created by a newer release; this release reads up to ${migrations.length}: ` +
        'start the newer release, or restore an older backup',
    )
  }
  return version
}

/** Copies through a second connection, which does not see the first connection's open transaction. */
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
 * Sets a pragma and reads it back, because SQLite silently ignores values that it cannot apply.
 * @throws StoreUnavailable if the value was not applied
 */
export function requirePragma(db: Database.Database, pragma: string, value: string, expected: string | number): void {
  db.pragma(`${pragma} = ${value}`)
  const actual = db.pragma(pragma, { simple: true })
  if (actual !== expected)
    throw new StoreUnavailable(`${db.name}: pragma ${pragma} must be ${value}, got ${String(actual)}`)
}

export type TransactionalConnection = {
  readonly db: Database.Database
  readonly begin: Database.Statement<[]>
  readonly commit: Database.Statement<[]>
  readonly rollback: Database.Statement<[]>
  /** Idempotent. */
  close(): void
}

/** How a kind of file is written. */
export type FileWriter<Connection extends TransactionalConnection, Change, Result> = {
  readonly connect: (path: string) => Connection
  readonly damageRemedy: string
  /** Writes the changes in the open transaction. @returns one result for each */
  readonly write: (connection: Connection, changes: readonly Change[]) => Result[]
}

/** Prepared once, because db.transaction() creates new functions on each call. */
export const prepareTransactionStatements = (db: Database.Database) => ({
  begin: db.prepare<[]>('BEGIN IMMEDIATE'),
  commit: db.prepare<[]>('COMMIT'),
  rollback: db.prepare<[]>('ROLLBACK'),
})

/** A file's connection. After a failed commit, or if the file is read-only, it is closed, and the next use reconnects. */
export class DatabaseFile<Connection extends TransactionalConnection> {
  #connection: Connection | undefined
  #isClosed = false

  /**
   * @param damageRemedy what an operator must do if the file is damaged
   * @throws UnreadableFile; StoreUnavailable for an error of SQLite
   */
  constructor(
    readonly path: string,
    private readonly connect: (path: string) => Connection,
    private readonly damageRemedy: string,
  ) {
    try {
      this.#connection = connect(path)
    } catch (error) {
      throw this.#toStoreError(error)
    }
  }

  /** @throws StoreUnavailable for an error of SQLite; the open transaction is rolled back */
  use<Result>(work: (connection: Connection) => Result): Result {
    if (this.#isClosed) throw new StoreUnavailable(`${this.path} is closed`)
    try {
      this.#connection ??= this.#reconnect()
      return work(this.#connection)
    } catch (error) {
      this.#rollback()
      // SQLite opened the file read-only, and this connection stays so after the permission is granted.
      if (error instanceof Database.SqliteError && error.code === 'SQLITE_READONLY') this.#disconnect()
      throw this.#toStoreError(error)
    }
  }

  /** @throws OutcomeUnknown if the commit fails: its frames may be in the WAL and be recovered when the file is next opened */
  commit(connection: Connection): void {
    try {
      connection.commit.run()
    } catch (error) {
      this.#rollback()
      this.#disconnect()
      const why = error instanceof Database.SqliteError ? describeWriteError(this.path, error) : String(error)
      throw new OutcomeUnknown(`${why}; the commit failed, and its outcome is unknown`, { cause: error })
    }
  }

  close(): void {
    this.#isClosed = true
    this.#disconnect()
  }

  #reconnect(): Connection {
    // To connect would create an empty file.
    if (!existsSync(this.path)) throw new StoreUnavailable(`${this.path} is missing`)
    return this.connect(this.path)
  }

  /** Every other error is returned as it is. */
  #toStoreError(error: unknown): unknown {
    if (!(error instanceof Database.SqliteError)) return error
    if (isDamage(error)) return toDamagedStore(this.path, this.damageRemedy, error)
    return new StoreUnavailable(describeWriteError(this.path, error), { cause: error })
  }

  #disconnect(): void {
    this.#connection?.close()
    this.#connection = undefined
  }

  #rollback(): void {
    const connection = this.#connection
    if (connection?.db.inTransaction !== true) return
    try {
      connection.rollback.run()
    } catch {
      // If even the rollback fails, close the connection; closing rolls back.
      this.#disconnect()
    }
  }
}

type SqliteErrorFields = { readonly code: string; readonly message: string }

/** Advice for operators about SQLite errors caused by the disk, by error code prefix. */
const ERROR_ADVICE: Readonly<Record<string, string>> = {
  SQLITE_FULL: 'the disk is full: free up space; writes resume without a restart',
  SQLITE_IOERR_SHMSIZE: 'the disk is full: free up space; writes resume without a restart',
  SQLITE_IOERR: 'the disk reported an I/O error: check the system log and the disk',
  SQLITE_READONLY: 'the disk or the file is read-only: grant write permission to this user',
  SQLITE_CANTOPEN: 'the file cannot be opened: check its folder, owner and permissions',
}

/** Advice if there is any for the error, otherwise SQLite's own message. */
function describeWriteError(path: string, { code, message }: SqliteErrorFields): string {
  const known = Object.keys(ERROR_ADVICE).find((start) => code.startsWith(start))
  const why = known === undefined ? message : ERROR_ADVICE[known]
  return `${path} cannot be written: ${why} (${code})`
}
