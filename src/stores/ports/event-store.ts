/**
 * The event store port: an append-only log of streams with one total order. The log is the only source of truth.
 * Adapters: sqlite/events.ts (embedded), eventstoredb/eventstoredb.ts. Both pass test/contract/event-store.ts.
 */
import { describeReadOnlyState, type ReadOnlyState } from '../../domain/installation/read-only-state.ts'

/** Revision of a stream's last event, counted from 0n; `none` for a stream without events. */
export type Revision = bigint | 'none'

/**
 * A position in the total order of all events. EventStoreDB needs both numbers to resume a filtered subscription; the
 * embedded log uses one counter for both. Compare positions with comparePositions, never as text.
 */
export type Position = { readonly commit: bigint; readonly prepare: bigint }

/** A position, or `start` for the position before the first event. */
export type PositionOrStart = Position | 'start'

/** `data` must survive a JSON round trip: no bigint, no Date, no significant undefined. */
export type NewEvent = {
  /**
   * A UUID. Deterministic where an append may be retried (events/event-metadata.ts), so that a repeated append is
   * recognised.
   */
  readonly id: string
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
  /**
   * String values only: actor, via, $correlationId, $causationId, traceparent, schema, at (ISO 8601, UTC,
   * milliseconds).
   */
  readonly metadata: Readonly<Record<string, string>>
}

export type StoredEvent = NewEvent & {
  readonly stream: string
  readonly revision: bigint
  readonly position: Position
}

/** `expected` is the stream's exact revision before the append (optimistic concurrency). */
export type Append = { readonly stream: string; readonly expected: Revision; readonly events: readonly NewEvent[] }

/** Stream name prefixes, such as `diamond-`; an event passes if its stream starts with one of them. */
export type StreamFilter = { readonly prefixes: readonly string[] }

export const passesFilter = ({ stream }: Pick<StoredEvent, 'stream'>, filter: StreamFilter | undefined): boolean =>
  filter === undefined || filter.prefixes.some((prefix) => stream.startsWith(prefix))

/** One item of a subscription. A batch without events reports only that the log was read up to `position`. */
export type SubscriptionBatch = {
  readonly events: readonly StoredEvent[]
  /** How far the log was read, including events that the filter excludes. Resuming from here misses nothing. */
  readonly position: PositionOrStart
  /** True if the log had no events after `position` when the batch was read. */
  readonly caughtUp: boolean
  /** The event at `position`, of any stream, if the adapter has it in memory. */
  readonly last?: StoredEvent
}

export interface Subscription extends AsyncIterable<SubscriptionBatch> {
  /** Ends the iteration after the current batch. */
  stop(): void
}

/** The part of the event store that each engine's adapter implements. */
export interface EventLog {
  /** Whether appendMany is all or nothing. */
  readonly isAppendManyAtomic: boolean
  /**
   * Appends in order. Resolves with the position of the last event once the events are durable.
   * Idempotent: repeating an append with the same event ids at the same `expected` returns the original position.
   * @throws WrongRevision, EventsRemoved, OutcomeUnknown, StoreUnavailable
   */
  append(stream: string, expected: Revision, events: readonly NewEvent[]): Promise<Position>
  /**
   * SQLite: one transaction, all or nothing. An append that is already stored returns its original positions while the
   * others are stored, so repeating a partly stored bulk completes it.
   * EventStoreDB: concurrent appends, each idempotent. If one fails, others may be stored; a command that needs all of
   * them therefore appends an intent event first (commands/bulk/accepted-bulk.ts).
   * @param order `kept`: across all streams, no event is stored before the events of an earlier append. Use it to
   *   fill a log that has no other writer. The appends are pipelined; if one fails, the ones before it are stored, and
   *   repeating the same call completes the rest. A SQLite transaction always keeps the order
   * @returns the position of each append's last event, in the order of `appends`
   */
  appendMany(appends: readonly Append[], order?: 'any' | 'kept'): Promise<Position[]>
  /** The stream's events in order, or the `last` newest of them, still in order. Empty if the stream does not exist. */
  readStream(stream: string, options?: { readonly last?: number }): Promise<StoredEvent[]>
  /** All events after `from` (exclusive) in the total order, up to the head at the time of the call. */
  readAll(from: PositionOrStart, filter?: StreamFilter): AsyncIterable<StoredEvent>
  /**
   * Catch-up subscription: all events after `from` (exclusive), then new events. Resubscribes automatically after a
   * failure.
   */
  subscribe(from: PositionOrStart, filter?: StreamFilter): Subscription
  /**
   * The position of the newest event appended by any process. This process's subscriptions are notified to read up to
   * it.
   * @throws StoreUnavailable
   */
  head(): Promise<PositionOrStart>
  /** Whether `head` asks no server: it then takes about 2 µs, cheap enough for every request. */
  readonly isHeadLocal: boolean
  /** The event at exactly this position, or undefined. Shows whether a checkpoint belongs to this log. */
  eventAt(position: Position): Promise<StoredEvent | undefined>
  /** Waits for pending appends and ends the subscriptions. */
  close(): Promise<void>
}

/**
 * An EventLog with the parts that do not depend on the engine: identity, fence and closing (stores/log/event-store.ts).
 */
export interface EventStore extends EventLog {
  /** The id assigned when the log was created. A checkpoint of a log with another identity must not be used. */
  identity(): Promise<string>
  /**
   * Why the log is read-only: another process fenced it, or it has not been filled completely. It then takes only the
   * appends that isAppendAllowed (domain/installation/read-only-state.ts) permits. Undefined if the log is open.
   * @throws StoreUnavailable
   */
  closedReason(): Promise<ReadOnlyState | undefined>
  /**
   * Why the log's disk currently rejects writes, as a message for operators. Undefined if it accepts them, or if the
   * disk belongs to a database server. A file that is read-only is noticed without a write; after an append that
   * failed because of the disk, this makes a test write.
   */
  diskErrorMessage(): Promise<string | undefined>
  /**
   * Once this many milliseconds have passed since a fence was appended, no process can still store an append that was
   * pending at that time. 0 if every transaction checks the fence itself.
   */
  readonly fenceDelayMs: number
  /** When the server last sent anything, in milliseconds of the monotonic clock. Absent if the log has no server. */
  lastResponseAt?(): number
}

/** Negative when `a` comes before `b`. */
export function comparePositions(a: PositionOrStart, b: PositionOrStart): number {
  if (a === 'start') return b === 'start' ? 0 : -1
  if (b === 'start') return 1
  if (a.commit !== b.commit) return a.commit < b.commit ? -1 : 1
  return a.prepare === b.prepare ? 0 : a.prepare < b.prepare ? -1 : 1
}

/** A position as text: `events` prints it, `replay --until` accepts it. */
export const formatPosition = ({ commit, prepare }: Position): string =>
  commit === prepare ? `${commit}` : `${commit}/${prepare}`

/** Parses what `formatPosition` returns. @returns undefined if the text is not a position */
export function parsePosition(text: string): Position | undefined {
  const [, commit, prepare = commit] = /^(\d{1,19})(?:\/(\d{1,19}))?$/.exec(text) ?? []
  if (commit === undefined || prepare === undefined) return undefined
  return { commit: BigInt(commit), prepare: BigInt(prepare) }
}

/**
 * Optimistic concurrency conflict: the stream is not at the expected revision because another writer appended first.
 */
export class WrongRevision extends Error {
  override readonly name = 'WrongRevision'
  constructor(
    readonly stream: string,
    readonly expected: Revision,
    readonly actual: Revision,
  ) {
    super(`${stream} is at revision ${actual}, not ${expected}`)
  }
}

/**
 * An operator removed events of the stream from the log by hand: the append repeats such events, or can't come before
 * them. Nothing was stored, and a repeat has the same outcome. Only EventStoreDB offers such a removal.
 */
export class EventsRemoved extends Error {
  override readonly name = 'EventsRemoved'
  constructor(readonly stream: string) {
    super(
      `${stream}: events were removed from this stream by hand (it was deleted, or $maxCount, $maxAge or $tb in its ` +
        'metadata hides them). Nothing was stored',
    )
  }
}

/** @property store its display name, such as EventStoreDB; defaults to the cause's store, then to `a file or disk` */
type StorageErrorOptions = ErrorOptions & { readonly store?: string }

/** A store failed. The error names the store, so that an outage is logged once and not by each caller that meets it. */
export class StorageError extends Error {
  override readonly name: string = 'StorageError'
  readonly store: string

  constructor(message?: string, { store, cause }: StorageErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.store = store ?? (cause instanceof StorageError ? cause.store : 'a file or disk')
  }
}

/** The append may or may not have been stored, or may still be stored later. Read the stream again to find out. */
export class OutcomeUnknown extends StorageError {
  override readonly name = 'OutcomeUnknown'
}

/** A stored event cannot be parsed: it was modified outside the service, or the disk corrupted it. */
export class CorruptEvent extends Error {
  override readonly name = 'CorruptEvent'
  constructor(
    readonly event: Pick<StoredEvent, 'stream' | 'revision' | 'position'>,
    options?: ErrorOptions,
  ) {
    const { stream, revision, position } = event
    super(
      `${stream}@${revision}, at position ${position.commit}, is corrupt: its data or metadata is not valid JSON`,
      options,
    )
  }
}

/** The store cannot be reached or cannot accept writes now; nothing was stored. */
export class StoreUnavailable extends StorageError {
  override readonly name: string = 'StoreUnavailable'
}

/**
 * The store responds, but can't be used with these settings: credentials without access, a server that is too old,
 * another application's database. Nothing was stored; waiting does not help.
 */
export class StoreMisconfigured extends StoreUnavailable {
  override readonly name = 'StoreMisconfigured'
}

/** A store's file is damaged: to wait does not help, an operator must replace it. */
export class DamagedStore extends StoreUnavailable {
  override readonly name = 'DamagedStore'
  /** @param remedy what the operator must do, as a clause */
  constructor(
    file: string,
    readonly remedy: string,
    { detail, ...options }: StorageErrorOptions & { readonly detail: string },
  ) {
    super(`${file} is damaged: ${remedy} (${detail})`, options)
  }
}

/** The log is read-only, though another log may accept the write; nothing was stored. */
export class LogClosed extends StoreUnavailable {
  override readonly name = 'LogClosed'
  constructor(readonly reason: ReadOnlyState) {
    super(describeReadOnlyState(reason))
  }
}
