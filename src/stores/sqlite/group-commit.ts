import { OutcomeUnknown } from '../ports/event-store.ts'
import {
  BUSY_DEADLINE_MS,
  isBusy,
  retryDelayMs,
  type TransactionalConnection,
  type DatabaseFile,
} from './database-file.ts'

export type QueuedChange = {
  /** No caller waits for it. It joins the next transaction, which starts after a short delay if nothing else starts it. */
  readonly isLazy: boolean
  fail(error: unknown): void
}

/** The first `count` changes of the queue, written in one transaction. */
export type GroupWriteResult = {
  readonly count: number
  /** Called after the commit, before the callers' promises resolve. */
  readonly onCommitted?: () => void
  /** Resolves the callers' promises, once the changes are durable. */
  readonly resolveCallers: () => void
}

type GroupCommitOptions<Connection, Change> = {
  /** Runs in a transaction. Writes as many of the waiting changes as fit in one transaction, at least one. */
  readonly write: (connection: Connection, waiting: readonly Change[]) => GroupWriteResult
  /** Runs before a transaction begins. @throws if no transaction may begin */
  readonly prepare?: (connection: Connection) => void
  /** Makes the commit durable if the commit itself does not sync. May call back synchronously. */
  readonly syncToDisk?: (count: number, done: (error: Error | null) => void) => void
  /** Called when a transaction fails for a reason other than a lock of another process. */
  readonly onFailure?: () => void
  /** A transaction waits while each turn of the event loop adds changes: up to `maxChanges` changes or `milliseconds`. */
  readonly gathering?: { readonly maxChanges: number; readonly milliseconds: number }
  /** The pending commit of another store whose callers write here next. Waiting for it saves a disk sync. */
  readonly otherCommit?: () => Promise<void> | undefined
  readonly busyDeadlineMs?: number
}

/** Milliseconds that a lazy change waits before it starts a transaction. */
const LAZY_DELAY_MS = 50
/** Milliseconds for which the lock is left to other processes. */
const YIELD_MS = 1
/** Milliseconds of continuous writing after which a process pauses to let others take the lock. */
const MAX_CONTINUOUS_WRITE_MS = 25

type GroupCommitState =
  | 'idle'
  /** Waiting for LAZY_DELAY_MS with only lazy changes. */
  | 'delaying'
  /** Waiting for the next turn of the event loop. */
  | 'gathering'
  /** Waiting for another store's commit; then, `joined`, for the turn in which its callers resume. */
  | 'joining'
  | 'joined'
  /** Leaving the lock to other processes. */
  | 'yielding'
  /** Waiting for the disk sync; changes that arrive meanwhile go into the next transaction. */
  | 'syncing'

/**
 * Group commit: changes that arrive together share one transaction and one disk sync.
 *
 *     idle ──(change)──▶ gathering ──(turn)──▶ transaction ──(committed)──▶ syncing ──(synced)──▶ idle, or gathering
 *      │                 ▲  ▲  └ (turn with more changes) ┘  └─(busy, or long)─▶ yielding ──(pause)─▶ transaction
 *      └(lazy)▶ delaying ┘  └ joined ◀(done)─ joining ◀(another store commits)─ gathering
 *
 * A transaction runs within one turn. A caller's promise resolves once its change is durable; other readers may see the
 * change earlier.
 */
export class GroupCommit<Connection extends TransactionalConnection, Change extends QueuedChange> {
  readonly stats = { calls: 0, transactions: 0, busy: 0, failures: 0 }
  #state: GroupCommitState = 'idle'
  readonly #queue: Change[] = []
  #timer: NodeJS.Timeout | undefined
  /** Queue length in the previous turn, and since when turns have been adding changes. */
  #previousQueueLength = 0
  #gatheringSince = 0
  #busySince: number | undefined
  /** Failed attempts since then. */
  #tries = 0
  /** Milliseconds of continuous writing. */
  #continuousWriteMs = 0
  /** Whether a caller waits for the commit that is being synced. */
  #isAwaited = false
  readonly #commitListeners: (() => void)[] = []
  readonly #drainListeners: (() => void)[] = []

  constructor(
    private readonly file: DatabaseFile<Connection>,
    private readonly options: GroupCommitOptions<Connection, Change>,
  ) {}

  add(change: Change): void {
    this.#queue.push(change)
    if (this.#state === 'idle' && change.isLazy) this.#sleep('delaying', LAZY_DELAY_MS)
    else if (this.#state === 'idle' || (this.#state === 'delaying' && !change.isLazy)) this.#gather()
  }

  /** Set while callers wait for a commit. Resolves once their promises have settled or the commit was postponed. */
  get pendingCommit(): Promise<void> | undefined {
    if (this.#state !== 'gathering' && !(this.#state === 'syncing' && this.#isAwaited)) return undefined
    return new Promise((resolve) => this.#commitListeners.push(resolve))
  }

  /** Resolves once the queue is empty. */
  drained(): Promise<void> {
    if (this.#state === 'idle') return Promise.resolve()
    return new Promise((drained) => this.#drainListeners.push(drained))
  }

  #sleep(state: 'delaying' | 'yielding', milliseconds: number): void {
    this.#state = state
    this.#timer = setTimeout(() => this.#turn(), milliseconds)
  }

  #gather(): void {
    clearTimeout(this.#timer)
    this.#state = 'gathering'
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    if (this.#isGrowing()) return this.#gather()
    const otherCommit = this.#state === 'joined' ? undefined : this.options.otherCommit?.()
    if (otherCommit === undefined) this.#transact()
    else void this.#join(otherCommit)
  }

  async #join(otherCommit: Promise<void>): Promise<void> {
    this.#state = 'joining'
    await otherCommit
    this.#state = 'joined'
    setImmediate(() => this.#turn())
  }

  #isGrowing(): boolean {
    const { gathering } = this.options
    if (gathering === undefined) return false
    const count = this.#queue.length
    const now = performance.now()
    if (this.#previousQueueLength === 0) this.#gatheringSince = now
    const isWithinLimit = now - this.#gatheringSince < gathering.milliseconds
    const isGrowing = count > this.#previousQueueLength && count < gathering.maxChanges && isWithinLimit
    this.#previousQueueLength = isGrowing ? count : 0
    return isGrowing
  }

  #transact(): void {
    const started = performance.now()
    let attemptedCount = 0
    try {
      const written = this.file.use((connection) => {
        this.options.prepare?.(connection)
        connection.begin.run()
        const group = this.options.write(connection, this.#queue)
        attemptedCount = group.count
        this.file.commit(connection)
        return group
      })
      this.#continuousWriteMs += performance.now() - started
      this.#syncCommitted(written)
    } catch (error) {
      this.#fail(error, attemptedCount, started)
      this.#continuousWriteMs += performance.now() - started
      this.#continue()
    }
  }

  #syncCommitted(written: GroupWriteResult): void {
    const changes = this.#queue.splice(0, written.count)
    this.#busySince = undefined
    this.#tries = 0
    this.stats.transactions++
    this.stats.calls += changes.length
    written.onCommitted?.()
    this.#state = 'syncing'
    this.#isAwaited = changes.some(({ isLazy }) => !isLazy)
    const done = (error: Error | null) => {
      if (error === null) written.resolveCallers()
      else for (const change of changes) change.fail(error)
      this.#continue()
    }
    if (this.options.syncToDisk === undefined) done(null)
    else this.options.syncToDisk(changes.length, done)
  }

  /** @param attemptedCount number of changes in the transaction if its commit failed; 0 if it failed earlier */
  #fail(error: unknown, attemptedCount: number, started: number): void {
    if (isBusy(error)) {
      this.stats.busy++
      this.#tries++
      this.#busySince ??= started
      if (performance.now() - this.#busySince < (this.options.busyDeadlineMs ?? BUSY_DEADLINE_MS)) return
    } else this.options.onFailure?.()
    this.#busySince = undefined
    this.#tries = 0
    this.stats.failures++
    // If it failed before the commit, all waiting changes fail: how many of them the file could take is unknown.
    const failedCount = error instanceof OutcomeUnknown ? attemptedCount : this.#queue.length
    for (const change of this.#queue.splice(0, failedCount)) change.fail(error)
  }

  get #pause(): number {
    return this.#tries === 0 ? YIELD_MS : retryDelayMs(this.#tries)
  }

  #continue(): void {
    for (const resolve of this.#commitListeners.splice(0)) resolve()
    const isYielding = this.#busySince !== undefined || this.#continuousWriteMs > MAX_CONTINUOUS_WRITE_MS
    if (this.#queue.length === 0 || isYielding) this.#continuousWriteMs = 0
    if (this.#queue.length > 0) return isYielding ? this.#sleep('yielding', this.#pause) : this.#gather()
    this.#state = 'idle'
    for (const resolve of this.#drainListeners.splice(0)) resolve()
  }
}
