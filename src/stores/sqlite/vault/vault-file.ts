import Database from 'better-sqlite3'
import { closeSync, fdatasync, fdatasyncSync, openSync, statSync } from 'node:fs'
import { OutcomeUnknown, StoreUnavailable } from '../../ports/event-store.ts'
import {
  BUSY_TIMEOUT_MS,
  requirePragma,
  DatabaseFile,
  createOrMigrate,
  isDamage,
  putAside,
  requireIntact,
  prepareTransactionStatements,
  type SqliteFileFormat,
} from '../database-file.ts'
import { GroupCommit, type QueuedChange, type GroupWriteResult } from '../group-commit.ts'
import { checkpointWal, type WalThread } from '../wal.ts'
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
 * Opens the vault so that deleted data is overwritten. A commit is durable only after the caller has synced the WAL
 * through the descriptor `wal`: a sync by SQLite would block the event loop.
 * @see https://sqlite.org/pragma.html#pragma_synchronous (NORMAL)
 * @throws UnreadableFile, StoreUnavailable
 */
function connect(file: string) {
  const db = new Database(file, { timeout: OPENING_TIMEOUT })
  try {
    requirePragma(db, 'journal_mode', 'WAL', 'wal')
    requirePragma(db, 'synchronous', 'NORMAL', 1)
    // Zeroes freed pages: https://sqlite.org/pragma.html#pragma_secure_delete
    requirePragma(db, 'secure_delete', 'ON', 1)
    // Keeps intermediate results of queries and transactions out of temporary files.
    requirePragma(db, 'temp_store', 'MEMORY', 2)
    createOrMigrate(db, vaultFormat)
    requirePragma(db, 'wal_autocheckpoint', '0', 0)
    db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
    // Safe to open and close: SQLite holds no POSIX lock on the WAL file that closing a descriptor would release.
    const wal = openSync(`${file}-wal`, 'r+')
    const close = () => {
      // Closing twice could close another file's descriptor.
      if (!db.open) return
      closeSync(wal)
      db.close()
    }
    return {
      db,
      wal,
      close,
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

const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() === true

/**
 * Renames a damaged vault, so that a new one can replace it. No process may have it open.
 * @returns the new name; undefined if the vault is intact or there is none
 */
export function putDamagedVaultAside(file: string): string | undefined {
  if (!isFile(file)) return undefined
  const db = new Database(file)
  try {
    requireIntact(db, 'quick_check')
    return undefined
  } catch (error) {
    if (!isDamage(error)) throw error
  } finally {
    db.close()
  }
  return putAside(file)
}

type VaultChange = QueuedChange & { readonly run: (connection: VaultConnection) => void; readonly done: () => void }

const DAMAGE_REMEDY =
  'stop the service, and run `npx adamant restore FROM --in-place` with the newest backup, which keeps the event log ' +
  'and restores the addresses of accounts; pending one-time secrets are lost'

/** Limits of a transaction: number of changes, and milliseconds of gathering or writing them. */
const MAX_CHANGES_PER_TRANSACTION = 250
const MAX_TRANSACTION_MS = 20

/**
 * With more changes than this, most pending requests wait for the sync anyway, and handing it to another thread would
 * cost a sixth of the throughput. With fewer, a blocking sync would delay unrelated requests.
 */
const MAX_CHANGES_FOR_ASYNC_SYNC = 2

/** Syncs a file's written data to disk: asynchronously on another thread, or synchronously. */
type DiskSync = {
  sync(descriptor: number, done: (error: Error | null) => void): void
  syncNow(descriptor: number): void
}

/** The vault's file. Changes are durable once the WAL is synced; a sync for few changes does not block the event loop. */
export class VaultFile {
  readonly #file: DatabaseFile<VaultConnection>
  readonly #commit: GroupCommit<VaultConnection, VaultChange>
  /** Set after a failed sync: the operating system may have dropped pages that it reports as written. */
  #isWalLost = false
  /** True after a commit until its remains of deleted data have been shredded. */
  needsShredding = true

  constructor(
    readonly path: string,
    private readonly disk: DiskSync = { sync: fdatasync, syncNow: fdatasyncSync },
  ) {
    this.#file = new DatabaseFile(path, connect, DAMAGE_REMEDY)
    this.#commit = new GroupCommit(this.#file, {
      gathering: { maxChanges: MAX_CHANGES_PER_TRANSACTION, milliseconds: MAX_TRANSACTION_MS },
      prepare: (connection) => this.#truncateLostWal(connection),
      write: (connection, changes) => this.#write(connection, changes),
      syncToDisk: (count, done) => this.#syncWal(count, done),
    })
  }

  /** Set while callers wait for a commit. Resolves once it succeeded, failed or was postponed. */
  get pendingCommit(): Promise<void> | undefined {
    return this.#commit.pendingCommit
  }

  /** Resolves once the change is durable. */
  change<Result>(run: (connection: VaultConnection) => Result): Promise<Result> {
    return this.#add(run, false)
  }

  /** For changes that no caller waits for: joins the next transaction, which starts after a short delay at the latest. */
  changeLater<Result>(run: (connection: VaultConnection) => Result): Promise<Result> {
    return this.#add(run, true)
  }

  /** @throws StoreUnavailable */
  read<Result>(run: (connection: VaultConnection) => Result): Result {
    return this.#file.use(run)
  }

  async close(): Promise<void> {
    await this.#commit.drained()
    this.#file.close()
  }

  #add<Result>(run: (connection: VaultConnection) => Result, isLazy: boolean): Promise<Result> {
    return new Promise((done, reject) => {
      let result: Result
      this.#commit.add({
        isLazy,
        run: (connection) => {
          result = run(connection)
        },
        done: () => done(result),
        // A change that may be lost is reported as failed.
        fail: (error) =>
          reject(error instanceof OutcomeUnknown ? new StoreUnavailable(error.message, { cause: error }) : error),
      })
    })
  }

  #write(connection: VaultConnection, changes: readonly VaultChange[]): GroupWriteResult {
    const started = performance.now()
    const group: VaultChange[] = []
    for (const change of changes) {
      if (
        group.length >= MAX_CHANGES_PER_TRANSACTION ||
        (group.length > 0 && performance.now() - started > MAX_TRANSACTION_MS)
      )
        break
      change.run(connection)
      group.push(change)
    }
    return {
      count: group.length,
      onCommitted: () => (this.needsShredding = true),
      resolveCallers: () => {
        for (const { done } of group) done()
      },
    }
  }

  #syncWal(count: number, done: (error: Error | null) => void): void {
    const onSynced = (error: Error | null) => {
      this.#isWalLost = error !== null
      done(error && new StoreUnavailable(`${this.path}-wal: ${error.message}`, { cause: error }))
    }
    const { wal } = this.#file.use((connection) => connection)
    if (count > MAX_CHANGES_FOR_ASYNC_SYNC) onSynced(this.#syncNow(wal))
    else this.disk.sync(wal, onSynced)
  }

  #syncNow(wal: number): Error | null {
    try {
      this.disk.syncNow(wal)
      return null
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error))
    }
  }

  /** Frames after a lost page in the WAL are lost too. Before the next transaction, checkpoint and truncate the WAL. */
  #truncateLostWal({ db }: VaultConnection): void {
    if (!this.#isWalLost) return
    if (checkpointWal(db, 'truncate').busy)
      throw new StoreUnavailable(
        `${this.path}: a sync failed, and other connections prevent the checkpoint that must follow`,
      )
    this.#isWalLost = false
  }
}

/** Truncates the WAL, which still contains deleted data, on the worker thread. */
export class Shredder {
  #running: Promise<boolean> | undefined

  constructor(
    private readonly file: Pick<VaultFile, 'path' | 'needsShredding'>,
    private readonly thread: WalThread,
  ) {}

  /**
   * @returns false if other connections prevented it
   * @throws Error if the disk failed or the thread died; the next call starts a new thread
   */
  async shred(): Promise<boolean> {
    if (this.#running === undefined && !this.file.needsShredding) return true
    return (this.#running ??= this.#shred().finally(() => (this.#running = undefined)))
  }

  /** Resolves once the thread no longer has the file open. */
  async close(): Promise<void> {
    // The caller of `shred` handles the error.
    await this.#running?.catch(() => false)
  }

  async #shred(): Promise<boolean> {
    this.file.needsShredding = false
    let isDone = false
    try {
      const { isBusy, failure } = await this.thread.run({ file: this.file.path, mode: 'truncate' })
      if (failure !== '') throw new Error(`the vault was not shredded: ${failure}`)
      isDone = !isBusy
    } finally {
      if (!isDone) this.file.needsShredding = true
    }
    return isDone
  }
}
