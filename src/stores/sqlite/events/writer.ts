import { COPY_STREAM, LOG_STREAM, type ReadOnlyState } from '../../../domain/installation/log-lifecycle.ts'
import { deriveClosedReason, isFenceStream, refusalOf } from '../../log/fence.ts'
import { WrongRevision, type LogClosed, type Position, type Revision } from '../../ports/event-store.ts'
import { GroupCommit, type QueuedChange, type GroupWriteResult } from '../group-commit.ts'
import type { EventLogConnection, EventLogFile } from './connection.ts'
import type { EncodedAppend } from './encoding.ts'
import { decodeRows, positionAt, rowsOf, type SqliteEventRow } from './rows.ts'

/** The events written by one transaction: all positions after `before`, up to and including `head`. */
export type CommittedGroup = {
  readonly before: number
  readonly head: number
  readonly appends: readonly { readonly append: EncodedAppend; readonly last: number }[]
}

type AppendCall = QueuedChange & {
  readonly appends: readonly EncodedAppend[]
  readonly events: number
  readonly done: (positions: Position[]) => void
}

type EventWriterOptions = {
  readonly log: EventLogFile
  /** Called after a commit, before the callers' promises resolve. */
  readonly onCommitted: (group: CommittedGroup) => void
  /** Called when a transaction fails for a reason other than a lock of another process. */
  readonly onFailure: () => void
  readonly busyDeadlineMs: number
  /** Whether this process fills the log, so that a fence does not apply to it. */
  readonly isCopyTarget: boolean
  readonly otherCommit: () => Promise<void> | undefined
}

/** Group commit for appends: those of one event loop turn share a transaction. */
export class EventWriter {
  readonly #commit: GroupCommit<EventLogConnection, AppendCall>
  readonly #onCommitted: EventWriterOptions['onCommitted']
  readonly #fence: TransactionFence | undefined
  #events = 0

  constructor({ log, onCommitted, isCopyTarget, ...options }: EventWriterOptions) {
    this.#onCommitted = onCommitted
    this.#fence = isCopyTarget ? undefined : new TransactionFence()
    const write = (connection: EventLogConnection, calls: readonly AppendCall[]) => this.#write(connection, calls)
    this.#commit = new GroupCommit(log, { ...options, write })
  }

  get stats() {
    const { calls, transactions, busy, failures } = this.#commit.stats
    return { calls, events: this.#events, transactions, busy, failures }
  }

  /** Resolves once all are durable, with the position of each append's last event. */
  write(appends: readonly EncodedAppend[]): Promise<Position[]> {
    const events = appends.reduce((sum, append) => sum + append.events.length, 0)
    return new Promise((done, fail) => this.#commit.add({ appends, events, done, fail, isLazy: false }))
  }

  #write(connection: EventLogConnection, calls: readonly AppendCall[]): GroupWriteResult {
    const started = performance.now()
    const before = connection.lastPosition.get() ?? 0
    const closedReason = this.#fence?.closedReason(connection, before)
    const outcomes: AppendOutcome[][] = []
    const written: CommittedGroup['appends'][number][] = []
    let head = before
    let events = 0
    for (const call of calls) {
      events += call.events
      if (
        outcomes.length > 0 &&
        (events > MAX_EVENTS_PER_TRANSACTION || performance.now() - started > MAX_TRANSACTION_MS)
      )
        break
      const error = refusalOfAll(closedReason, call.appends)
      const callOutcomes: AppendOutcome[] =
        error === undefined ? writeAppends(connection, call.appends, head) : [{ kind: 'refused', error }]
      outcomes.push(callOutcomes)
      if (callOutcomes.at(-1)?.kind === 'refused') continue
      for (const [index, append] of call.appends.entries()) {
        const outcome = callOutcomes[index]
        if (outcome?.kind === 'written') written.push({ append, last: (head = outcome.last) })
      }
    }
    const settled = calls.slice(0, outcomes.length)
    return {
      count: settled.length,
      onCommitted: () => this.#recordCommit({ before, head, appends: written }),
      resolveCallers: () => {
        for (const [index, call] of settled.entries()) settle(call, outcomes[index] ?? [])
      },
    }
  }

  #recordCommit(group: CommittedGroup): void {
    this.#events += group.head - group.before
    this.#fence?.onCommitted(
      group.appends.map(({ append }) => append.stream),
      group.head,
    )
    this.#onCommitted(group)
  }
}

/**
 * The fence check of each write transaction: an append committed after a fence always sees it. The state is cached and
 * read again only if another process has written since, which a different last position shows, because positions have
 * no gaps.
 */
class TransactionFence {
  #known: { readonly head: number; readonly closedReason: ReadOnlyState | undefined } | undefined

  closedReason(connection: EventLogConnection, head: number): ReadOnlyState | undefined {
    if (this.#known?.head !== head) this.#known = { head, closedReason: readClosedReason(connection) }
    return this.#known.closedReason
  }

  onCommitted(streams: readonly string[], head: number): void {
    const isFenceChanged = streams.some(isFenceStream)
    this.#known = isFenceChanged || this.#known === undefined ? undefined : { ...this.#known, head }
  }
}

function readClosedReason(connection: EventLogConnection): ReadOnlyState | undefined {
  const [last] = decodeRows(connection.newest.all(LOG_STREAM, 1))
  return deriveClosedReason(last, decodeRows(connection.stream.all(COPY_STREAM)), 'filling')
}

type AppendOutcome =
  | { readonly kind: 'written' | 'repeated'; readonly last: number }
  | { readonly kind: 'refused'; readonly error: WrongRevision | LogClosed }

/** Events per write transaction at most; a single call may exceed it. */
const MAX_EVENTS_PER_TRANSACTION = 500

/** Milliseconds after which a transaction takes no more calls; it then ends well within 50 ms. */
const MAX_TRANSACTION_MS = 30

/** @returns the error with which a call is rejected; then none of its appends is stored */
function refusalOfAll(
  closedReason: ReadOnlyState | undefined,
  appends: readonly EncodedAppend[],
): LogClosed | undefined {
  if (closedReason === undefined) return undefined
  for (const { stream, events } of appends) {
    const types = events.map(({ type }) => type)
    const refusal = refusalOf(closedReason, stream, types)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

/**
 * Writes the appends of one call after position `head`, all or nothing, inside the open transaction. The first event of
 * an append detects a conflict before anything is written, so a single append needs no savepoint.
 */
function writeAppends(
  connection: EventLogConnection,
  appends: readonly EncodedAppend[],
  head: number,
): AppendOutcome[] {
  if (appends.length > 1) connection.savepoint.run()
  const outcomes: AppendOutcome[] = []
  let last = head
  for (const append of appends) {
    const outcome = writeAppend(connection, append, last)
    outcomes.push(outcome)
    if (outcome.kind === 'refused') break
    if (outcome.kind === 'written') last = outcome.last
  }
  if (appends.length > 1) {
    if (outcomes.at(-1)?.kind === 'refused') connection.undo.run()
    connection.release.run()
  }
  return outcomes
}

function writeAppend(connection: EventLogConnection, append: EncodedAppend, head: number): AppendOutcome {
  for (const [index, row] of rowsOf(append, head).entries()) {
    if (index > 0) connection.insert.run(...row)
    else if (!writeFirst(connection, append.expected, row)) return outcomeOfRepeat(connection, append)
  }
  return { kind: 'written', last: head + append.events.length }
}

function writeFirst(
  { insertFirst, insertAfter }: EventLogConnection,
  expected: Revision,
  row: SqliteEventRow,
): boolean {
  if (expected === 'none') return insertFirst.run(...row).changes > 0
  return insertAfter.run(...row, row[1], row[2] - 1).changes > 0
}

/** The stream is past the expected revision: it contains either these events already or others. */
function outcomeOfRepeat(
  connection: EventLogConnection,
  { stream, expected, firstRevision, events }: EncodedAppend,
): AppendOutcome {
  const stored = connection.stored.all(stream, firstRevision, firstRevision + events.length - 1)
  const isRepeat = stored.length === events.length && stored.every(([, id], index) => events[index]?.id.equals(id))
  const last = stored.at(-1)
  if (isRepeat && last !== undefined) return { kind: 'repeated', last: last[0] }
  const revision = connection.lastRevision.get(stream) ?? undefined
  const actual = revision === undefined ? 'none' : BigInt(revision)
  return { kind: 'refused', error: new WrongRevision(stream, expected, actual) }
}

function settle({ done, fail }: AppendCall, outcomes: readonly AppendOutcome[]): void {
  const positions: Position[] = []
  for (const outcome of outcomes) {
    if (outcome.kind === 'refused') return fail(outcome.error)
    positions.push(positionAt(outcome.last))
  }
  done(positions)
}
