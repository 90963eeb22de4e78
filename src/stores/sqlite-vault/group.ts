import Database from 'better-sqlite3'
import { StoreUnavailable } from '../event-store.ts'
import { connect, type Connection } from './connection.ts'

/** One change that waits for its transaction. */
type Change = { readonly run: (connection: Connection) => void; done: () => void; fail: (error: unknown) => void }

/** A transaction takes no more changes after so many, and after so many milliseconds. */
const GROUP = 250
const GROUP_TIME = 20
/** Milliseconds that a deletion waits for others, or for a value to go to the disk with. */
const LAZY = 20
/** Milliseconds between tries, and in all, while another process writes. */
const PAUSE = 2
const BUSY_DEADLINE = 5_000

/** The connection to the vault. The changes of a tick share one transaction, and so one wait for the disk. */
export class VaultFile {
  readonly #waiting: Change[] = []
  #connection: Connection
  #scheduled = false
  #timer: NodeJS.Timeout | undefined
  #busySince: number | undefined
  #drained: (() => void)[] = []
  /** True since the last commit, until somebody has shredded what it left. */
  changed = true

  constructor(readonly file: string) {
    this.#connection = connect(file)
  }

  /** Whether changes wait for the end of this turn, when they are committed. */
  get committing(): boolean {
    return this.#scheduled
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
    if (this.#waiting.length > 0) await new Promise<void>((done) => this.#drained.push(done))
    this.#connection.db.close()
  }

  /** A flush that is due at once comes before one that is to come later. */
  #schedule(pause: number): void {
    if (this.#scheduled) return
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
    if (this.#waiting.length === 0) return
    try {
      const count = this.#write()
      this.#busySince = undefined
      this.changed = true
      for (const change of this.#waiting.splice(0, count)) change.done()
    } catch (error) {
      this.#rollback()
      if (!this.#isPassing(error)) {
        this.#busySince = undefined
        for (const change of this.#waiting.splice(0)) change.fail(unavailable(this.file, error))
      }
    }
    if (this.#waiting.length > 0) this.#schedule(this.#busySince === undefined ? 0 : PAUSE)
    else for (const done of this.#drained.splice(0)) done()
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
      this.#connection.db.close()
      this.#connection = connect(this.file)
    }
  }
}

function unavailable(file: string, error: unknown): unknown {
  if (error instanceof StoreUnavailable) return error
  if (!(error instanceof Database.SqliteError)) return error
  return new StoreUnavailable(`${file}: ${error.message} (${error.code})`, { cause: error })
}
