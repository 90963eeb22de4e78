import { fdatasync, fdatasyncSync } from 'node:fs'
import { OutcomeUnknown, StoreUnavailable } from '../../ports/event-store.ts'
import { GroupCommit, type Waiting, type Written } from '../group-commit.ts'
import { OpenFile } from '../file.ts'
import { checkpoint } from '../wal.ts'
import { connect, type Connection } from './connection.ts'

/** One change that waits for its transaction. */
type Change = Waiting & { readonly run: (connection: Connection) => void; readonly done: () => void }

/** A transaction takes no more changes after so many, and after so many milliseconds of gathering or writing them. */
const MOST = 250
const LONGEST = 20

/**
 * With more changes than this in a transaction, the requests under way wait for it anyway, and the turn that handing it to
 * another thread takes costs a sixth of the rate; with fewer, others would wait for what is not theirs.
 */
const FEW = 2

/** Brings a file's written bytes to the disk: beside the event loop, or at once. */
export type Disk = {
  sync(descriptor: number, done: (error: Error | null) => void): void
  syncNow(descriptor: number): void
}

/** The vault's file. Its changes last when the WAL is on the disk, for which the event loop does not wait where they are few. */
export class VaultFile {
  readonly #file: OpenFile<Connection>
  readonly #commit: GroupCommit<Connection, Change>
  /** Behind a failed sync, the system may take pages for written that it has lost. */
  #isWalLost = false
  /** True since the last commit, until somebody has shredded what it left. */
  changed = true

  constructor(
    readonly path: string,
    private readonly disk: Disk = { sync: fdatasync, syncNow: fdatasyncSync },
  ) {
    this.#file = new OpenFile(path, connect)
    this.#commit = new GroupCommit(this.#file, {
      gathering: { most: MOST, milliseconds: LONGEST },
      prepare: (connection) => this.#mend(connection),
      write: (connection, changes) => this.#write(connection, changes),
      keep: (count, kept) => this.#keep(count, kept),
    })
  }

  /** While somebody waits for a commit: resolves when that has been told, or put off. */
  get commitUnderWay(): Promise<void> | undefined {
    return this.#commit.underWay
  }

  /** Resolves when the change is on the disk. */
  change<Result>(run: (connection: Connection) => Result): Promise<Result> {
    return this.#add(run, false)
  }

  /** For what nobody waits for: shares the next transaction, at the latest after a moment. */
  changeLater<Result>(run: (connection: Connection) => Result): Promise<Result> {
    return this.#add(run, true)
  }

  /** @throws StoreUnavailable */
  look<Result>(run: (connection: Connection) => Result): Result {
    return this.#file.use(run)
  }

  async close(): Promise<void> {
    await this.#commit.drained()
    this.#file.close()
  }

  #add<Result>(run: (connection: Connection) => Result, isLazy: boolean): Promise<Result> {
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

  #write(connection: Connection, changes: readonly Change[]): Written {
    const started = performance.now()
    const run: Change[] = []
    for (const change of changes) {
      if (run.length >= MOST || (run.length > 0 && performance.now() - started > LONGEST)) break
      change.run(connection)
      run.push(change)
    }
    return {
      count: run.length,
      committed: () => (this.changed = true),
      tell: () => {
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
    if (count > FEW) synced(this.#syncNow(wal))
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
  #mend({ db }: Connection): void {
    if (!this.#isWalLost) return
    if (checkpoint(db, 'empty').busy) throw new StoreUnavailable(`${this.path}: a sync failed, and others use it`)
    this.#isWalLost = false
  }
}
