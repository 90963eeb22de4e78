import Database from 'better-sqlite3'
import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs'
import { OutcomeUnknown, StoreUnavailable } from '../../ports/event-store.ts'
import {
  BUSY_TIMEOUT_MS,
  requirePragma,
  DatabaseFile,
  createOrMigrate,
  prepareTransactionStatements,
  type SqliteFileFormat,
} from '../database-file.ts'
import { GroupCommit, type QueuedChange, type GroupWriteResult } from '../group-commit.ts'
import { checkpointWal, type WalThread } from '../wal.ts'
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
const vaultFormat: SqliteFileFormat = {
  name: 'vault',
  applicationId: 0x41645674,
  migrations: [(db: Database.Database) => void db.exec(TABLES)],
}

/** Milliseconds that opening waits for another process which makes the file. */
const OPENING_TIMEOUT = 10_000

export type VaultConnection = ReturnType<typeof connect>

/**
 * Opens the vault so that deleted bytes are overwritten. A commit lasts when the WAL, `wal`, is on the disk, which is the
 * caller's to see to: SQLite would keep the event loop waiting for it.
 * @see https://sqlite.org/pragma.html#pragma_synchronous (NORMAL)
 * @throws UnreadableFile, StoreUnavailable
 */
function connect(file: string) {
  const db = new Database(file, { timeout: OPENING_TIMEOUT })
  try {
    requirePragma(db, 'journal_mode', 'WAL', 'wal')
    requirePragma(db, 'synchronous', 'NORMAL', 1)
    // Zeroes what a deletion frees: https://sqlite.org/pragma.html#pragma_secure_delete
    requirePragma(db, 'secure_delete', 'ON', 1)
    // Nothing of a query's or a transaction's inside is ever spilled into a file beside the vault.
    requirePragma(db, 'temp_store', 'MEMORY', 2)
    createOrMigrate(db, vaultFormat)
    requirePragma(db, 'wal_autocheckpoint', '0', 0)
    db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
    // SQLite has no lock on this file, which closing a descriptor of it would lose.
    const wal = openSync(`${file}-wal`, 'r+')
    const close = () => {
      // The number of a descriptor that was closed already is another file's by now.
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

/** One change that waits for its transaction. */
type VaultChange = QueuedChange & { readonly run: (connection: VaultConnection) => void; readonly done: () => void }

/** A transaction takes no more changes after so many, and after so many milliseconds of gathering or writing them. */
const MAX_CHANGES_PER_TRANSACTION = 250
const MAX_TRANSACTION_MS = 20

/**
 * With more changes than this in a transaction, the requests under way wait for it anyway, and the turn that handing it to
 * another thread takes costs a sixth of the rate; with fewer, others would wait for what is not theirs.
 */
const MAX_CHANGES_FOR_ASYNC_SYNC = 2

/** Brings a file's written bytes to the disk: beside the event loop, or at once. */
export type DiskSync = {
  sync(descriptor: number, done: (error: Error | null) => void): void
  syncNow(descriptor: number): void
}

/** The vault's file. Its changes last when the WAL is on the disk, for which the event loop does not wait where they are few. */
export class VaultFile {
  readonly #file: DatabaseFile<VaultConnection>
  readonly #commit: GroupCommit<VaultConnection, VaultChange>
  /** Behind a failed sync, the system may take pages for written that it has lost. */
  #isWalLost = false
  /** True since the last commit, until somebody has shredded what it left. */
  needsShredding = true

  constructor(
    readonly path: string,
    private readonly disk: DiskSync = { sync: fdatasync, syncNow: fdatasyncSync },
  ) {
    this.#file = new DatabaseFile(path, connect)
    this.#commit = new GroupCommit(this.#file, {
      gathering: { most: MAX_CHANGES_PER_TRANSACTION, milliseconds: MAX_TRANSACTION_MS },
      prepare: (connection) => this.#mend(connection),
      write: (connection, changes) => this.#write(connection, changes),
      syncToDisk: (count, kept) => this.#keep(count, kept),
    })
  }

  /** While somebody waits for a commit: resolves when that has been told, or put off. */
  get pendingCommit(): Promise<void> | undefined {
    return this.#commit.pendingCommit
  }

  /** Resolves when the change is on the disk. */
  change<Result>(run: (connection: VaultConnection) => Result): Promise<Result> {
    return this.#add(run, false)
  }

  /** For what nobody waits for: shares the next transaction, at the latest after a moment. */
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
        // What may not last is as good as not there: whoever made it is refused.
        fail: (error) =>
          reject(error instanceof OutcomeUnknown ? new StoreUnavailable(error.message, { cause: error }) : error),
      })
    })
  }

  #write(connection: VaultConnection, changes: readonly VaultChange[]): GroupWriteResult {
    const started = performance.now()
    const run: VaultChange[] = []
    for (const change of changes) {
      if (
        run.length >= MAX_CHANGES_PER_TRANSACTION ||
        (run.length > 0 && performance.now() - started > MAX_TRANSACTION_MS)
      )
        break
      change.run(connection)
      run.push(change)
    }
    return {
      count: run.length,
      onCommitted: () => (this.needsShredding = true),
      resolveCallers: () => {
        for (const { done } of run) done()
      },
    }
  }

  #keep(count: number, kept: (error: Error | null) => void): void {
    const synced = (error: Error | null) => {
      this.#isWalLost = error !== null
      kept(error && new StoreUnavailable(`${this.path}-wal: ${error.message}`, { cause: error }))
    }
    const { wal } = this.#file.use((connection) => connection)
    if (count > MAX_CHANGES_FOR_ASYNC_SYNC) synced(this.#syncNow(wal))
    else this.disk.sync(wal, synced)
  }

  #syncNow(wal: number): Error | null {
    try {
      this.disk.syncNow(wal)
      return null
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error))
    }
  }

  /** What follows lost pages in the WAL is lost with them: all of it goes into the file first, and the WAL begins anew. */
  #mend({ db }: VaultConnection): void {
    if (!this.#isWalLost) return
    if (checkpointWal(db, 'empty').busy) throw new StoreUnavailable(`${this.path}: a sync failed, and others use it`)
    this.#isWalLost = false
  }
}

/** Empties the WAL, where deleted bytes live on: the event loop does not wait. */
export class Shredder {
  #running: Promise<boolean> | undefined

  constructor(
    private readonly file: Pick<VaultFile, 'path' | 'needsShredding'>,
    private readonly thread: WalThread,
  ) {}

  /**
   * @returns false when others kept it from being done
   * @throws Error when the disk did, or the thread died: the next one starts it again
   */
  async shred(): Promise<boolean> {
    if (this.#running === undefined && !this.file.needsShredding) return true
    return (this.#running ??= this.#shred().finally(() => (this.#running = undefined)))
  }

  /** Resolves when no thread has the file open for it any more. */
  async close(): Promise<void> {
    // Its caller has got the error.
    await this.#running?.catch(() => false)
  }

  async #shred(): Promise<boolean> {
    this.file.needsShredding = false
    let isDone = false
    try {
      const { isBusy, failure } = await this.thread.run({ file: this.file.path, mode: 'empty' })
      if (failure !== '') throw new Error(`the vault was not shredded: ${failure}`)
      isDone = !isBusy
    } finally {
      if (!isDone) this.file.needsShredding = true
    }
    return isDone
  }
}
