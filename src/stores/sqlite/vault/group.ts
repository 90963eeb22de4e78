import Database from 'better-sqlite3'
import { fdatasync, fdatasyncSync } from 'node:fs'
import { StoreUnavailable } from '../../ports/event-store.ts'
import { connect, type Connection } from './connection.ts'

/** One change that waits for its transaction. */
type Change = {
  readonly isLazy: boolean
  readonly run: (connection: Connection) => void
  readonly done: () => void
  readonly fail: (error: unknown) => void
}

/** A transaction takes no more changes after so many, and after so many milliseconds of gathering or writing them. */
const GROUP = 250
const GROUP_TIME = 20
/** Milliseconds that a deletion waits for others, or for a value to go to the disk with. */
const LAZY = 50
/** Milliseconds between tries, and in all, while another process writes. */
const PAUSE = 2
const BUSY_DEADLINE = 5_000

/** Brings a file's written bytes to the disk: beside the event loop, or at once. */
export type Disk = {
  sync(descriptor: number, done: (error: Error | null) => void): void
  syncNow(descriptor: number): void
}

/**
 * With more changes than this in a transaction, the requests under way wait for it anyway, and the turn that handing it to
 * another thread takes costs a sixth of the rate; with fewer, others would wait for what is not theirs.
 */
const FEW = 2

/**
 * The connection to the vault. The changes of a tick share one transaction, and so one wait for the disk, during which
 * the event loop goes on. Others see a change before it lasts; whoever made it is told after.
 */
export class VaultFile {
  readonly #waiting: Change[] = []
  #connection: Connection
  #scheduled = false
  #syncing = false
  /** Behind a failed sync, the system may take pages for written that it has lost. */
  #isWalLost = false
  /** Changes that waited a turn ago, while more are waited for. */
  #gathered = 0
  #gatheringSince = 0
  #timer: NodeJS.Timeout | undefined
  #busySince: number | undefined
  #drained: (() => void)[] = []
  #isAwaited = false
  #told: (() => void)[] = []
  /** True since the last commit, until somebody has shredded what it left. */
  changed = true

  constructor(
    readonly file: string,
    private readonly disk: Disk = { sync: fdatasync, syncNow: fdatasyncSync },
  ) {
    this.#connection = connect(file)
  }

  /** While somebody waits for a commit: resolves when that has been told, or put off. */
  get telling(): Promise<void> | undefined {
    if (!this.#scheduled && !this.#isAwaited) return undefined
    return new Promise((done) => this.#told.push(done))
  }

  /** Resolves when the change is on the disk. */
  change<Result>(run: (connection: Connection) => Result): Promise<Result> {
    return this.#add(run, 0)
  }

  /** For what nobody waits for: shares the next transaction, at the latest after a moment. */
  changeLater<Result>(run: (connection: Connection) => Result): Promise<Result> {
    return this.#add(run, LAZY)
  }

  #add<Result>(run: (connection: Connection) => Result, pause: number): Promise<Result> {
    return new Promise((done, fail) => {
      let result: Result
      this.#waiting.push({
        run: (connection) => {
          result = run(connection)
        },
        isLazy: pause > 0,
        done: () => done(result),
        fail,
      })
      this.#schedule(pause)
    })
  }

  /** @throws StoreUnavailable */
  look<Result>(run: (connection: Connection) => Result): Result {
    try {
      return run(this.#connection)
    } catch (error) {
      throw unavailable(this.file, error)
    }
  }

  async close(): Promise<void> {
    if (this.#syncing || this.#waiting.length > 0) await new Promise<void>((done) => this.#drained.push(done))
    this.#connection.close()
  }

  /** A flush that is due at once comes before one that is to come later. */
  #schedule(pause: number): void {
    if (this.#scheduled || this.#syncing) return
    if (pause > 0) {
      this.#timer ??= setTimeout(() => this.#flush(), pause)
      return
    }
    this.#scheduled = true
    setImmediate(() => this.#flush())
  }

  #flush(): void {
    this.#scheduled = false
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#syncing || this.#waiting.length === 0) return
    if (this.#isGathering()) return this.#schedule(0)
    try {
      this.#mend()
      const count = this.#write()
      this.#busySince = undefined
      this.changed = true
      return this.#keep(this.#waiting.splice(0, count))
    } catch (error) {
      this.#rollback()
      if (!this.#isPassing(error)) {
        this.#busySince = undefined
        for (const change of this.#waiting.splice(0)) change.fail(unavailable(this.file, error))
      }
    }
    this.#goOn()
  }

  /** While each turn of the event loop brings more changes, they are waited for: requests that come together go together. */
  #isGathering(): boolean {
    const count = this.#waiting.length
    const now = performance.now()
    if (this.#gathered === 0) this.#gatheringSince = now
    const more = count > this.#gathered && count < GROUP && now - this.#gatheringSince < GROUP_TIME
    this.#gathered = more ? count : 0
    return more
  }

  #goOn(): void {
    for (const told of this.#told.splice(0)) told()
    if (this.#waiting.length > 0) this.#schedule(this.#busySince === undefined ? 0 : PAUSE)
    else for (const done of this.#drained.splice(0)) done()
  }

  /** What was committed lasts when the WAL is on the disk. Meanwhile others gather for the next transaction. */
  #keep(changes: readonly Change[]): void {
    if (changes.length > FEW) return this.#tell(changes, this.#syncNow())
    this.#syncing = true
    this.#isAwaited = changes.some(({ isLazy }) => !isLazy)
    this.disk.sync(this.#connection.wal, (error) => {
      this.#syncing = false
      this.#isAwaited = false
      this.#tell(changes, error)
    })
  }

  #syncNow(): Error | null {
    try {
      this.disk.syncNow(this.#connection.wal)
      return null
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error))
    }
  }

  #tell(changes: readonly Change[], error: Error | null): void {
    this.#isWalLost = error !== null
    for (const change of changes) {
      if (error === null) change.done()
      else change.fail(new StoreUnavailable(`${this.file}-wal: ${error.message}`, { cause: error }))
    }
    this.#goOn()
  }

  /** What follows lost pages in the WAL is lost with them: all of it goes into the file first, and the WAL begins anew. */
  #mend(): void {
    if (!this.#isWalLost) return
    if (this.#connection.emptyWal.get()?.[0] !== 0)
      throw new StoreUnavailable(`${this.file}: a sync failed, and others use it`)
    this.#isWalLost = false
  }

  #write(): number {
    const started = performance.now()
    let count = 0
    this.#connection.begin.run()
    for (const change of this.#waiting) {
      if (count >= GROUP || (count > 0 && performance.now() - started > GROUP_TIME)) break
      change.run(this.#connection)
      count++
    }
    this.#connection.commit.run()
    return count
  }

  /** Another process writes: it will be over soon. */
  #isPassing(error: unknown): boolean {
    if (!(error instanceof Database.SqliteError) || !error.code.startsWith('SQLITE_BUSY')) return false
    this.#busySince ??= performance.now()
    return performance.now() - this.#busySince < BUSY_DEADLINE
  }

  /** A connection that can't even roll back is given up; closing it rolls back. */
  #rollback(): void {
    if (!this.#connection.db.inTransaction) return
    try {
      this.#connection.rollback.run()
    } catch {
      // Each change that waits was told, or is tried again on the new connection.
      this.#connection.close()
      this.#connection = connect(this.file)
    }
  }
}

function unavailable(file: string, error: unknown): unknown {
  if (error instanceof StoreUnavailable) return error
  if (!(error instanceof Database.SqliteError)) return error
  return new StoreUnavailable(`${file}: ${error.message} (${error.code})`, { cause: error })
}
