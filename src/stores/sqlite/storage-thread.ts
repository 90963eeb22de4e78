import Database from 'better-sqlite3'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { WarningLogger } from '../../runtime/logger.ts'
import { startWorker } from '../../runtime/start-worker.ts'
import { WorkerPool } from '../../runtime/worker-pool.ts'
import { DamagedStore, OutcomeUnknown, StoreUnavailable } from '../ports/event-store.ts'
import { isBusy, messageOf } from './database-file.ts'
import type { StorageAnswer, StorageFailure, StorageFile, StorageTask } from './storage-worker.ts'

/** A thread that writes and commits, so that the event loop does not wait for the disk. */
export type StorageThread = Pick<WorkerPool<StorageTask, StorageAnswer>, 'run'>

const createStorageThread = (): StorageThread =>
  new WorkerPool<StorageTask, StorageAnswer>(() => startWorker('./storage-worker', import.meta.url), 1)

/** The process's threads: one for each kind of file, so that neither waits for the other's commit or lock. */
export const logThread = createStorageThread()
export const vaultThread = createStorageThread()

export type StorageWriterOptions = {
  readonly file: StorageFile
  readonly thread: StorageThread
  /** Called if the thread ends. */
  readonly warn: WarningLogger
}

type GroupOptions<Change, Result> = {
  /** How many of the waiting changes share the next transaction, at least one. */
  readonly countForTransaction: (waiting: readonly Change[]) => number
  /** Whether a change, for which no caller waits, leaves it to others to start a transaction. */
  readonly isLazy?: (change: Change) => boolean
  /** Called after a commit, before the callers' promises resolve. */
  readonly onCommitted?: (changes: readonly Change[], results: readonly Result[]) => void
}

type WaitingChange<Change, Result> = {
  readonly change: Change
  readonly isLazy: boolean
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/**
 * How long a transaction waits for expected changes, as a share of the time that the last one took: the changes that
 * come a little later would otherwise wait for a whole sync more. As PostgreSQL's commit_delay:
 * https://www.postgresql.org/docs/current/wal-configuration.html
 */
const GATHERING_SHARE = 0.25

/** Milliseconds that a change waits for which no caller waits, if no other change starts a transaction. */
const LAZY_DELAY_MS = 50

/**
 * Writes changes to a file on its thread (group commit): those of one turn of the event loop share a transaction and one
 * disk sync, and while it is under way the next ones gather.
 */
export class StorageWriter<Change, Result> {
  readonly stats = { calls: 0, transactions: 0, busy: 0, failures: 0 }
  readonly #waiting: WaitingChange<Change, Result>[] = []
  readonly #lazy: WaitingChange<Change, Result>[] = []
  #lazyTimer: NodeJS.Timeout | undefined
  #diskError: string | undefined
  /** Changes expected in the next transaction: those of the last one's callers, who may write again, and those waiting. */
  #expected = 0
  #lastTransactionMs = 0
  #onGathered: (() => void) | undefined
  #writing: Promise<void> | undefined
  /** On the thread. */
  #file: 'not opened' | 'opened' | 'closed' = 'not opened'

  constructor(private readonly options: StorageWriterOptions & GroupOptions<Change, Result>) {}

  /** Whether changes wait or are being written; others may see those before their callers know. */
  get isWriting(): boolean {
    return this.#writing !== undefined
  }

  /**
   * Resolves once the change is durable.
   * @throws StoreUnavailable, if nothing was stored; OutcomeUnknown
   */
  write(change: Change): Promise<Result> {
    const isLazy = this.options.isLazy?.(change) === true
    return new Promise((resolve, reject) => {
      const waiting = isLazy ? this.#lazy : this.#waiting
      waiting.push({ change, isLazy, resolve, reject })
      if (isLazy) this.#lazyTimer ??= setTimeout(() => this.#flush(), LAZY_DELAY_MS)
      else this.#start()
      if (this.#waiting.length >= this.#expected) this.#onGathered?.()
    })
  }

  /**
   * Why the disk rejects writes now, if it does; undefined also while another process writes. While changes are being
   * written, the last transaction tells.
   * @throws StoreUnavailable
   */
  async diskError(): Promise<string | undefined> {
    if (!this.isWriting) {
      const found = await this.#run({ do: 'check', thoroughly: this.#diskError !== undefined })
      this.#diskError = found as string | undefined
    }
    return this.#diskError
  }

  /** Limits the file to this many pages of 4 KiB, to simulate a full disk. */
  async limitPages(pages: number): Promise<void> {
    await this.#run({ do: 'limit', pages })
  }

  /** Resolves once everything is written and the thread has closed the file. */
  async close(): Promise<void> {
    this.#flush()
    await this.#writing
    // No thread is started only to close a file.
    if (this.#file === 'opened') await this.#run({ do: 'close' })
    this.#file = 'closed'
  }

  #flush(): void {
    this.#addLazy()
    if (this.#waiting.length > 0) this.#start()
  }

  #start(): void {
    this.#writing ??= this.#writeAll()
  }

  #addLazy(): void {
    clearTimeout(this.#lazyTimer)
    this.#lazyTimer = undefined
    this.#waiting.unshift(...this.#lazy.splice(0))
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#gather()
      this.#addLazy()
      const count = this.options.countForTransaction(this.#waiting.map(({ change }) => change))
      await this.#writeTransaction(this.#waiting.splice(0, count))
    }
    // At once: a change that arrives later must start again.
    this.#writing = undefined
  }

  /** Until the end of this turn of the event loop, and then for the expected changes. */
  async #gather(): Promise<void> {
    await nextTurn()
    const milliseconds = this.#lastTransactionMs * GATHERING_SHARE
    if (this.#waiting.length >= this.#expected || milliseconds < 1) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds)
      this.#onGathered = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#onGathered = undefined
  }

  async #writeTransaction(group: readonly WaitingChange<Change, Result>[]): Promise<void> {
    const changes = group.map(({ change }) => change)
    const started = performance.now()
    try {
      const results = (await this.#run({ do: 'write', changes })) as Result[]
      this.stats.transactions++
      this.stats.calls += changes.length
      this.#diskError = undefined
      this.#lastTransactionMs = performance.now() - started
      this.#expected = group.filter(({ isLazy }) => !isLazy).length + this.#waiting.length
      this.options.onCommitted?.(changes, results)
      for (const [index, { resolve }] of group.entries()) resolve(results[index] as Result)
    } catch (error) {
      this.stats.failures++
      if (isBusy(error)) this.stats.busy++
      else this.#diskError = messageOf(error)
      this.#expected = 0
      for (const { reject } of group) reject(error)
    }
  }

  async #run(task: DistributedOmit<StorageTask, keyof StorageFile>): Promise<unknown> {
    const { file, thread, warn } = this.options
    if (this.#file === 'closed') throw new StoreUnavailable(`${file.path} is closed`)
    this.#file = 'opened'
    const answer = await thread.run({ ...file, ...task }).catch((error: unknown) => {
      this.#file = 'not opened'
      warn({ err: error, file: file.path }, 'the storage thread ended; the next write starts a new one')
      const Failure = task.do === 'write' ? OutcomeUnknown : StoreUnavailable
      throw new Failure(`${file.path}: the storage thread ended: ${messageOf(error)}`, { cause: error })
    })
    if ('failure' in answer) throw toError(file.path, answer.failure)
    return answer.value
  }
}

type DistributedOmit<Union, Key extends PropertyKey> = Union extends unknown ? Omit<Union, Key> : never

/** The error as the thread's connection threw it. */
function toError(path: string, { name, message, remedy, sqlite }: StorageFailure): Error {
  const cause = sqlite && new Database.SqliteError(sqlite.message, sqlite.code)
  if (name === 'OutcomeUnknown') return new OutcomeUnknown(message, { cause })
  if (name === 'DamagedStore')
    return new DamagedStore(path, remedy ?? '', { detail: `${sqlite?.code}: ${sqlite?.message}`, cause })
  if (name === 'StoreUnavailable') return new StoreUnavailable(message, { cause })
  return new Error(message)
}
