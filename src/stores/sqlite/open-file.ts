import Database from 'better-sqlite3'
import { OutcomeUnknown, StoreUnavailable } from '../ports/event-store.ts'

/** A connection to a file, with what begins and ends its transactions. */
export type Connected = {
  readonly db: Database.Database
  readonly begin: Database.Statement<[]>
  readonly commit: Database.Statement<[]>
  readonly rollback: Database.Statement<[]>
  /** Done twice, it changes nothing more. */
  close(): void
}

/** What a connection's transactions are made of: prepared once, since db.transaction() makes its functions anew each time. */
export const transactions = (db: Database.Database) => ({
  begin: db.prepare<[]>('BEGIN IMMEDIATE'),
  commit: db.prepare<[]>('COMMIT'),
  rollback: db.prepare<[]>('ROLLBACK'),
})

/** The connection to a file, opened again by its next user after a failed commit. */
export class OpenFile<On extends Connected> {
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
      throw new StoreUnavailable(inWords(this.path, error), { cause: error })
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
      const why = error instanceof Database.SqliteError ? inWords(this.path, error) : String(error)
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
const WORDS: Readonly<Record<string, string>> = {
  SQLITE_FULL: 'its disk is full: make room, and writes go on without a restart',
  SQLITE_IOERR: 'its disk fails: look at the system log, and at the disk',
  SQLITE_READONLY: 'its disk or its file is read-only: let this user write there',
  SQLITE_CANTOPEN: 'it can not be opened: look at its folder and whose it is',
}

/** What a failed write says in an operator's words; SQLite's own, with its code, where there is nothing better. */
function inWords(path: string, { code, message }: { readonly code: string; readonly message: string }): string {
  const known = Object.keys(WORDS).find((start) => code.startsWith(start))
  const why = known === undefined ? message : WORDS[known]
  return `${path} takes no writes: ${why} (${code})`
}
