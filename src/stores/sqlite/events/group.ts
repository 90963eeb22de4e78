import { LogClosed, type Position } from '../../ports/event-store.ts'
import { writeAppends, type Outcome } from './append.ts'
import { refuses, type Fence } from './closed.ts'
import type { Connection } from './connection.ts'
import type { EncodedAppend } from './encoding.ts'

/** A write transaction takes no more events, unless one call alone has more. */
const GROUP_EVENTS = 500
/** Milliseconds after which a write transaction takes no more calls; it is over soon after, well within 50. */
const GROUP_TIME = 30

/** One append() or appendMany() that waits for its transaction. */
export type Call = {
  readonly appends: readonly EncodedAppend[]
  readonly events: number
  readonly resolve: (positions: Position[]) => void
  readonly reject: (error: unknown) => void
}

export type Written = { readonly append: EncodedAppend; readonly last: number }

/** What one transaction wrote: everything behind position `before` up to `head`. */
export type Group = {
  readonly before: number
  readonly head: number
  readonly written: readonly Written[]
  /** Of the first calls of the queue, in order. */
  readonly outcomes: readonly (readonly Outcome[])[]
}

/**
 * Begins a transaction and writes as many of the waiting calls as one may hold. The commit is the caller's.
 * @param fence undefined where the log is being filled by this process, and so takes its appends
 */
export function writeGroup(connection: Connection, queue: readonly Call[], fence: Fence | undefined): Group {
  const started = performance.now()
  connection.begin.run()
  const before = connection.lastPosition.get() ?? 0
  const closed = fence?.closed(connection, before)
  const outcomes: Outcome[][] = []
  const written: Written[] = []
  let head = before
  let events = 0
  for (const call of queue) {
    events += call.events
    if (outcomes.length > 0 && (events > GROUP_EVENTS || performance.now() - started > GROUP_TIME)) break
    const answers: Outcome[] = refuses(closed, call.appends)
      ? [{ kind: 'refused', error: new LogClosed(closed) }]
      : writeAppends(connection, call.appends, head)
    outcomes.push(answers)
    if (answers.at(-1)?.kind === 'refused') continue
    head = collect(call, answers, written) ?? head
  }
  return { before, head, written, outcomes }
}

/** Adds what was written just now, and gives its last position. */
function collect({ appends }: Call, outcomes: readonly Outcome[], written: Written[]): number | undefined {
  let head: number | undefined
  for (const [index, append] of appends.entries()) {
    const outcome = outcomes[index]
    if (outcome?.kind !== 'written') continue
    written.push({ append, last: outcome.last })
    head = outcome.last
  }
  return head
}
