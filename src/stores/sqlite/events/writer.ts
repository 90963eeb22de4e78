import { OutcomeUnknown, type Position } from '../../ports/event-store.ts'
import type { Outcome } from './append.ts'
import { Fence } from './closed.ts'
import type { EncodedAppend } from './encoding.ts'
import { writeGroup, type Call, type Group } from './group.ts'
import { isBusy, type LogFile } from './log-file.ts'
import { positionAt } from './rows.ts'

/** After so many milliseconds of writing without a break, a process leaves the lock to others for a moment. */
const TURN = 25
/** Milliseconds of that moment, and between tries while another process writes. */
const PAUSE = 1

export type WriterStats = { calls: number; events: number; transactions: number; busy: number; failures: number }

type Options = {
  readonly log: LogFile
  /** Told of a commit before its callers are. */
  readonly committed: (group: Group) => void
  /** Told of what a transaction failed by, unless others held the file. */
  readonly failed: () => void
  /** Milliseconds that calls wait for another process's transactions before they fail. */
  readonly busyDeadline: number
  readonly filling: boolean
  readonly joined: () => Promise<void> | undefined
}

/** Gathers the calls of a tick into one transaction. */
export class Writer {
  readonly stats: WriterStats = { calls: 0, events: 0, transactions: 0, busy: 0, failures: 0 }
  readonly #options: Options
  readonly #queue: Call[] = []
  readonly #drained: (() => void)[] = []
  readonly #fence: Fence | undefined
  #scheduled = false
  #waited = false
  #writing = 0
  #busySince: number | undefined

  constructor(options: Options) {
    this.#options = options
    this.#fence = options.filling ? undefined : new Fence()
  }

  /** Resolves with the position of each append's last event when all are durable. */
  write(appends: readonly EncodedAppend[]): Promise<Position[]> {
    const events = appends.reduce((sum, append) => sum + append.events.length, 0)
    return new Promise((resolve, reject) => {
      this.#queue.push({ appends, events, resolve, reject })
      if (!this.#scheduled) this.#schedule()
    })
  }

  /** Resolves when nothing waits any more. */
  drain(): Promise<void> {
    if (this.#queue.length === 0) return Promise.resolve()
    return new Promise((resolve) => this.#drained.push(resolve))
  }

  #schedule(pause = 0): void {
    this.#scheduled = true
    const flush = () => this.#flush()
    if (pause > 0) setTimeout(flush, pause)
    else setImmediate(flush)
  }

  #scheduleBehind(joined: Promise<void>): void {
    this.#scheduled = true
    void joined.then(() => this.#schedule())
  }

  #flush(): void {
    this.#scheduled = false
    const joined = this.#waited ? undefined : this.#options.joined()
    this.#waited = joined !== undefined
    if (joined !== undefined) return this.#scheduleBehind(joined)
    const started = performance.now()
    let tried = 0
    try {
      const group = this.#options.log.use((connection) => {
        const written = writeGroup(connection, this.#queue, this.#fence)
        tried = written.outcomes.length
        this.#options.log.commit(connection)
        return written
      })
      this.#acknowledge(group)
    } catch (error) {
      this.#fail(error, tried, started)
    }
    this.#goOn(performance.now() - started)
  }

  #acknowledge(group: Group): void {
    const calls = this.#queue.splice(0, group.outcomes.length)
    this.#busySince = undefined
    this.stats.transactions++
    this.stats.calls += calls.length
    this.stats.events += group.head - group.before
    this.#fence?.moved(
      group.written.map(({ append }) => append.stream),
      group.head,
    )
    this.#options.committed(group)
    for (const [index, call] of calls.entries()) settle(call, group.outcomes[index] ?? [])
  }

  /** @param tried how many calls the failed transaction held when its commit failed; 0 when it did not come so far */
  #fail(error: unknown, tried: number, started: number): void {
    if (isBusy(error)) {
      this.stats.busy++
      this.#busySince ??= started
      if (performance.now() - this.#busySince < this.#options.busyDeadline) return
    }
    this.#busySince = undefined
    this.stats.failures++
    if (!isBusy(error)) this.#options.failed()
    // Before the commit, it is not known how many of the waiting calls the file would still have taken.
    const failed = error instanceof OutcomeUnknown ? tried : this.#queue.length
    for (const call of this.#queue.splice(0, failed)) call.reject(error)
  }

  #goOn(spent: number): void {
    if (this.#queue.length === 0) {
      this.#writing = 0
      for (const resolve of this.#drained.splice(0)) resolve()
      return
    }
    this.#writing += spent
    const resting = this.#busySince !== undefined || this.#writing > TURN
    if (resting) this.#writing = 0
    this.#schedule(resting ? PAUSE : 0)
  }
}

function settle({ resolve, reject }: Call, outcomes: readonly Outcome[]): void {
  const positions: Position[] = []
  for (const outcome of outcomes) {
    if (outcome.kind === 'refused') return reject(outcome.error)
    positions.push(positionAt(outcome.last))
  }
  resolve(positions)
}
