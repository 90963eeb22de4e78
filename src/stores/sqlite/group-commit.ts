import { OutcomeUnknown } from '../ports/event-store.ts'
import {
  BUSY_DEADLINE_MS,
  isBusy,
  retryDelayMs,
  type TransactionalConnection,
  type DatabaseFile,
} from './database-file.ts'

/** What waits for its transaction. */
export type QueuedChange = {
  /** Nobody waits for it: it shares the next transaction, and begins one of its own only after a moment. */
  readonly isLazy: boolean
  fail(error: unknown): void
}

/** What one transaction holds of what waited, from the first on. */
export type GroupWriteResult = {
  readonly count: number
  /** Told of the commit before whoever made the changes. */
  readonly onCommitted?: () => void
  /** Tells whoever made the changes; they last. */
  readonly resolveCallers: () => void
}

export type GroupCommitOptions<On, Change> = {
  /** Inside a transaction: writes as many of those that wait as one may hold, and at least one. */
  readonly write: (connection: On, waiting: readonly Change[]) => GroupWriteResult
  /** Before a transaction begins. @throws where none may */
  readonly prepare?: (connection: On) => void
  /** Brings what was committed to the disk, where the commit itself does not. It may call back at once. */
  readonly syncToDisk?: (count: number, kept: (error: Error | null) => void) => void
  /** Told of what a transaction failed by, unless others held the file. */
  readonly onFailure?: () => void
  /** While each turn of the event loop brings more, it is waited for: at most for so many, and so many milliseconds. */
  readonly gathering?: { readonly most: number; readonly milliseconds: number }
  /** Another store's commit under way, behind which changes follow that are waited for: two of a disk cost more than one. */
  readonly otherCommit?: () => Promise<void> | undefined
  /** Milliseconds that changes wait for other processes' transactions. */
  readonly busyDeadlineMs?: number
}

/** Milliseconds after which a transaction is begun for what nobody waits for. */
const LAZY = 50
/** Milliseconds in which other processes may write. */
const PAUSE = 1
/** After so many milliseconds of writing without a break, a process leaves the lock to others for that moment. */
const MAX_CONTINUOUS_WRITE_MS = 25

type GroupCommitState =
  | 'idle'
  /** For what is lazy. */
  | 'putting off'
  /** For the next turn of the event loop. */
  | 'gathering'
  /** For another store's commit; then for the turn in which its callers go on. */
  | 'joining'
  | 'joined'
  /** For other processes. */
  | 'resting'
  /** For the disk; what comes meanwhile goes into the next transaction. */
  | 'keeping'

/**
 * Changes that come together share one transaction, and so one wait for the disk.
 *
 *     idle ──(change)──▶ gathering ──(turn)──▶ a transaction ──(committed)──▶ keeping ──(on the disk)──▶ idle, or gathering
 *      │                 ▲  ▲  └ (turn that brought more) ┘  └─(busy, or long)─▶ resting ──(pause)─▶ the transaction
 *      └(lazy)▶ putting off ┘  └ joined ◀(over)─ joining ◀(another store commits)─ gathering
 *
 * A transaction itself takes place within one turn. Whoever made a change is told when it lasts; others see it before.
 */
export class GroupCommit<On extends TransactionalConnection, Change extends QueuedChange> {
  readonly stats = { calls: 0, transactions: 0, busy: 0, failures: 0 }
  #state: GroupCommitState = 'idle'
  readonly #queue: Change[] = []
  #timer: NodeJS.Timeout | undefined
  /** Changes that waited a turn ago, and since when turns bring more. */
  #gathered = 0
  #gatheringSince = 0
  #busySince: number | undefined
  /** Tries since then. */
  #tries = 0
  /** Milliseconds of writing without a break. */
  #writing = 0
  /** Whether somebody waits for what is on its way to the disk. */
  #isAwaited = false
  readonly #onceTold: (() => void)[] = []
  readonly #onceDrained: (() => void)[] = []

  constructor(
    private readonly file: DatabaseFile<On>,
    private readonly options: GroupCommitOptions<On, Change>,
  ) {}

  add(change: Change): void {
    this.#queue.push(change)
    if (this.#state === 'idle' && change.isLazy) this.#sleep('putting off', LAZY)
    else if (this.#state === 'idle' || (this.#state === 'putting off' && !change.isLazy)) this.#gather()
  }

  /** While somebody waits for a commit: resolves when they have been told, or put off. */
  get pendingCommit(): Promise<void> | undefined {
    if (this.#state !== 'gathering' && !(this.#state === 'keeping' && this.#isAwaited)) return undefined
    return new Promise((told) => this.#onceTold.push(told))
  }

  /** Resolves when nothing waits any more. */
  drained(): Promise<void> {
    if (this.#state === 'idle') return Promise.resolve()
    return new Promise((drained) => this.#onceDrained.push(drained))
  }

  #sleep(state: 'putting off' | 'resting', milliseconds: number): void {
    this.#state = state
    this.#timer = setTimeout(() => this.#turn(), milliseconds)
  }

  #gather(): void {
    clearTimeout(this.#timer)
    this.#state = 'gathering'
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    if (this.#bringsMore()) return this.#gather()
    const other = this.#state === 'joined' ? undefined : this.options.otherCommit?.()
    if (other === undefined) this.#transact()
    else void this.#join(other)
  }

  async #join(other: Promise<void>): Promise<void> {
    this.#state = 'joining'
    await other
    this.#state = 'joined'
    setImmediate(() => this.#turn())
  }

  #bringsMore(): boolean {
    const { gathering } = this.options
    if (gathering === undefined) return false
    const count = this.#queue.length
    const now = performance.now()
    if (this.#gathered === 0) this.#gatheringSince = now
    const isSoon = now - this.#gatheringSince < gathering.milliseconds
    const more = count > this.#gathered && count < gathering.most && isSoon
    this.#gathered = more ? count : 0
    return more
  }

  #transact(): void {
    const started = performance.now()
    let tried = 0
    try {
      const written = this.file.use((connection) => {
        this.options.prepare?.(connection)
        connection.begin.run()
        const group = this.options.write(connection, this.#queue)
        tried = group.count
        this.file.commit(connection)
        return group
      })
      this.#writing += performance.now() - started
      this.#syncCommitted(written)
    } catch (error) {
      this.#fail(error, tried, started)
      this.#writing += performance.now() - started
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
    this.#state = 'keeping'
    this.#isAwaited = changes.some(({ isLazy }) => !isLazy)
    const kept = (error: Error | null) => {
      if (error === null) written.resolveCallers()
      else for (const change of changes) change.fail(error)
      this.#continue()
    }
    if (this.options.syncToDisk === undefined) kept(null)
    else this.options.syncToDisk(changes.length, kept)
  }

  /** @param tried how many changes the failed transaction held when its commit failed; 0 when it did not come so far */
  #fail(error: unknown, tried: number, started: number): void {
    if (isBusy(error)) {
      this.stats.busy++
      this.#tries++
      this.#busySince ??= started
      if (performance.now() - this.#busySince < (this.options.busyDeadlineMs ?? BUSY_DEADLINE_MS)) return
    } else this.options.onFailure?.()
    this.#busySince = undefined
    this.#tries = 0
    this.stats.failures++
    // Before the commit, it is not known how many of those that wait the file would still have taken.
    const failed = error instanceof OutcomeUnknown ? tried : this.#queue.length
    for (const change of this.#queue.splice(0, failed)) change.fail(error)
  }

  get #pause(): number {
    return this.#tries === 0 ? PAUSE : retryDelayMs(this.#tries)
  }

  #continue(): void {
    for (const told of this.#onceTold.splice(0)) told()
    const isResting = this.#busySince !== undefined || this.#writing > MAX_CONTINUOUS_WRITE_MS
    if (this.#queue.length === 0 || isResting) this.#writing = 0
    if (this.#queue.length > 0) return isResting ? this.#sleep('resting', this.#pause) : this.#gather()
    this.#state = 'idle'
    for (const drained of this.#onceDrained.splice(0)) drained()
  }
}
