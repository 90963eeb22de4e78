import Database from 'better-sqlite3'
import { OutcomeUnknown, StoreUnavailable } from '../../ports/event-store.ts'
import { connect, type Connection } from './connection.ts'
import { eventLogFormat } from './format.ts'
import { inWords } from './refusing.ts'

/** The connection to the log, opened again by its next user after a failed commit. */
export class LogFile {
  #connection: Connection | undefined
  #closed = false

  constructor(
    readonly file: string,
    private readonly format = eventLogFormat,
  ) {
    this.#connection = connect(file, format)
  }

  /** @throws StoreUnavailable for a failure of the file; what was under way is rolled back */
  use<Result>(work: (connection: Connection) => Result): Result {
    if (this.#closed) throw new StoreUnavailable(`${this.file} is closed`)
    try {
      this.#connection ??= connect(this.file, this.format)
      return work(this.#connection)
    } catch (error) {
      this.#rollback()
      if (!(error instanceof Database.SqliteError)) throw error
      throw new StoreUnavailable(inWords(this.file, error), { cause: error })
    }
  }

  /** @throws OutcomeUnknown when the commit fails: its frames may be in the WAL, where a later opening finds them */
  commit(connection: Connection): void {
    try {
      connection.commit.run()
    } catch (error) {
      this.#rollback()
      this.#connection = undefined
      connection.db.close()
      const why = error instanceof Database.SqliteError ? inWords(this.file, error) : String(error)
      throw new OutcomeUnknown(`${why}; the commit failed, and its events may be stored or not`, { cause: error })
    }
  }

  close(): void {
    this.#closed = true
    this.#connection?.db.close()
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
      connection.db.close()
    }
  }
}

export const isBusy = (error: unknown): boolean =>
  error instanceof StoreUnavailable &&
  error.cause instanceof Database.SqliteError &&
  error.cause.code.startsWith('SQLITE_BUSY')
