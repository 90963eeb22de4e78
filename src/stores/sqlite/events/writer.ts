import type { Position } from '../../ports/event-store.ts'
import { GroupCommit, type Waiting, type Written } from '../group-commit.ts'
import { writeAppends, type Outcome } from './append.ts'
import type { Connection, LogFile } from './connection.ts'
import type { EncodedAppend } from './encoding.ts'
import { refusalOfAll, TransactionFence } from './fence.ts'
import { positionAt } from './rows.ts'

/** A write transaction takes no more events, unless one call alone has more. */
const MOST_EVENTS = 500
/** Milliseconds after which a write transaction takes no more calls; it is over soon after, well within 50. */
const LONGEST = 30

/** One append() or appendMany() that waits for its transaction. */
type Call = Waiting & {
  readonly appends: readonly EncodedAppend[]
  readonly events: number
  readonly done: (positions: Position[]) => void
}

/** What one transaction wrote: everything behind position `before` up to `head`. */
export type Group = {
  readonly before: number
  readonly head: number
  readonly written: readonly { readonly append: EncodedAppend; readonly last: number }[]
}

type Options = {
  readonly log: LogFile
  /** Told of a commit before its callers are. */
  readonly committed: (group: Group) => void
  /** Told of what a transaction failed by, unless others held the file. */
  readonly failed: () => void
  readonly busyDeadline: number
  /** Where this process fills the log, which so takes its appends. */
  readonly filling: boolean
  readonly otherCommit: () => Promise<void> | undefined
}

/** Gathers the appends of a tick into one transaction. */
export class Writer {
  readonly #commit: GroupCommit<Connection, Call>
  readonly #committed: Options['committed']
  readonly #fence: TransactionFence | undefined
  #events = 0

  constructor({ log, committed, filling, ...options }: Options) {
    this.#committed = committed
    this.#fence = filling ? undefined : new TransactionFence()
    const write = (connection: Connection, calls: readonly Call[]) => this.#write(connection, calls)
    this.#commit = new GroupCommit(log, { ...options, write })
  }

  get stats() {
    const { calls, transactions, busy, failures } = this.#commit.stats
    return { calls, events: this.#events, transactions, busy, failures }
  }

  /** Resolves with the position of each append's last event when all are durable. */
  write(appends: readonly EncodedAppend[]): Promise<Position[]> {
    const events = appends.reduce((sum, append) => sum + append.events.length, 0)
    return new Promise((done, fail) => this.#commit.add({ appends, events, done, fail, isLazy: false }))
  }

  #write(connection: Connection, calls: readonly Call[]): Written {
    const started = performance.now()
    const before = connection.lastPosition.get() ?? 0
    const closed = this.#fence?.closed(connection, before)
    const outcomes: Outcome[][] = []
    const written: Group['written'][number][] = []
    let head = before
    let events = 0
    for (const call of calls) {
      events += call.events
      if (outcomes.length > 0 && (events > MOST_EVENTS || performance.now() - started > LONGEST)) break
      const error = refusalOfAll(closed, call.appends)
      const answers: Outcome[] =
        error === undefined ? writeAppends(connection, call.appends, head) : [{ kind: 'refused', error }]
      outcomes.push(answers)
      if (answers.at(-1)?.kind === 'refused') continue
      for (const [index, append] of call.appends.entries()) {
        const answer = answers[index]
        if (answer?.kind === 'written') written.push({ append, last: (head = answer.last) })
      }
    }
    const told = calls.slice(0, outcomes.length)
    return {
      count: told.length,
      committed: () => this.#wrote({ before, head, written }),
      tell: () => {
        for (const [index, call] of told.entries()) settle(call, outcomes[index] ?? [])
      },
    }
  }

  #wrote(group: Group): void {
    this.#events += group.head - group.before
    this.#fence?.moved(
      group.written.map(({ append }) => append.stream),
      group.head,
    )
    this.#committed(group)
  }
}

function settle({ done, fail }: Call, outcomes: readonly Outcome[]): void {
  const positions: Position[] = []
  for (const outcome of outcomes) {
    if (outcome.kind === 'refused') return fail(outcome.error)
    positions.push(positionAt(outcome.last))
  }
  done(positions)
}
