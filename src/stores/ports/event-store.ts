/**
 * The event store port: an append-only log of streams with one total order. The log is the only source of truth.
 * Adapters: sqlite/events.ts (embedded), eventstoredb/eventstoredb.ts. Both pass test/contract/event-store.ts.
 */
import { describeReadOnlyState, type ReadOnlyState } from '../../domain/installation/log-lifecycle.ts'

/** Revision of a stream's last event, counted from 0n; `none` is a stream without events. */
export type Revision = bigint | 'none'

/**
 * A place in the total order of all events. EventStoreDB needs both numbers to resume a filtered subscription;
 * the embedded log uses one counter for both. Compare with comparePositions, never as text.
 */
export type Position = { readonly commit: bigint; readonly prepare: bigint }

/** The place before the first event. */
export type PositionOrStart = Position | 'start'

/** Everything in an event's data survives JSON: no bigint, no undefined that matters, no Date. */
export type NewEvent = {
  /** A UUID. Deterministic where a retry is possible (events/event-metadata.ts), so that a repeated append is recognised. */
  readonly id: string
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
  /** String values only: actor, via, $correlationId, $causationId, traceparent, schema, at (ISO 8601, UTC, milliseconds). */
  readonly metadata: Readonly<Record<string, string>>
}

export type StoredEvent = NewEvent & {
  readonly stream: string
  readonly revision: bigint
  readonly position: Position
}

/** `expected` is the revision the stream has before the append, exactly. */
export type Append = { readonly stream: string; readonly expected: Revision; readonly events: readonly NewEvent[] }

/** Stream name prefixes, such as `diamond-`; an event passes when its stream starts with one of them. */
export type StreamFilter = { readonly prefixes: readonly string[] }

export const passesFilter = ({ stream }: Pick<StoredEvent, 'stream'>, filter: StreamFilter | undefined): boolean =>
  filter === undefined || filter.prefixes.some((prefix) => stream.startsWith(prefix))

/** What a subscription yields. A batch without events says only that the log was read up to `position`. */
export type SubscriptionBatch = {
  readonly events: readonly StoredEvent[]
  /** How far the log has been read, passing events or not. Resuming from here misses nothing. */
  readonly position: PositionOrStart
  /** True when, at the time of reading, nothing lay behind `position`. */
  readonly caughtUp: boolean
  /** The event at `position`, of whatever stream, where it is at hand. */
  readonly last?: StoredEvent
}

export interface Subscription extends AsyncIterable<SubscriptionBatch> {
  /** Ends the iteration after the batch under way. */
  stop(): void
}

/** What an engine's adapter implements. */
export interface EventLog<
  Head extends PositionOrStart | Promise<PositionOrStart> = PositionOrStart | Promise<PositionOrStart>,
> {
  /** Whether appendMany writes all or nothing. */
  readonly isAppendManyAtomic: boolean
  /**
   * Appends in order and resolves when the events are durable, with the position of the last one.
   * Repeating an append with the same event ids at the same `expected` gives the first answer again.
   * @throws WrongRevision, OutcomeUnknown, StoreUnavailable
   */
  append(stream: string, expected: Revision, events: readonly NewEvent[]): Promise<Position>
  /**
   * One transaction on SQLite, all or nothing. A repeat among them is answered as before while the others are stored, so
   * that a half-stored bulk is completed by repeating it. On EventStoreDB concurrent appends, each idempotent: a failure
   * of one can leave others stored, so what belongs together is written as an intent first (commands/bulk/handle-all.ts).
   * @param order `kept`: no event is stored before one of an append ahead of it, across all streams. For filling a log that
   *   nobody else writes to: they are on their way together, one behind the other; when one fails, those ahead of it are
   *   stored, and the same call once more completes it. One transaction keeps it anyway
   * @returns the position of each append's last event, in the order of `appends`
   */
  appendMany(appends: readonly Append[], order?: 'any' | 'kept'): Promise<Position[]>
  /** The stream's events in order; `last` gives only so many of its newest, still in order. No stream: none. */
  read(stream: string, options?: { readonly last?: number }): Promise<StoredEvent[]>
  /** All events behind `from` (exclusive) in the total order, up to the head at the time of the call. */
  readAll(from: PositionOrStart, filter?: StreamFilter): AsyncIterable<StoredEvent>
  /** Everything behind `from` (exclusive), then what comes; resubscribes by itself. */
  subscribe(from: PositionOrStart, filter?: StreamFilter): Subscription
  /**
   * The position of the newest event of any process, and the subscriptions of this process are on their way to it.
   * The embedded log answers without a promise, in about 2 us: cheap enough to ask in every request.
   * @throws StoreUnavailable
   */
  head(): Head
  /** The event at exactly this position, undefined where there is none: tells whether a checkpoint is of this log. */
  eventAt(position: Position): Promise<StoredEvent | undefined>
  /** Waits for the appends under way, and ends the subscriptions. */
  close(): Promise<void>
}

/** The log with what every log has, whatever engine holds it: an identity, a fence, an end (stores/log/event-store.ts). */
export interface EventStore<
  Head extends PositionOrStart | Promise<PositionOrStart> = PositionOrStart | Promise<PositionOrStart>,
> extends EventLog<Head> {
  /** The id that the log was born with. A checkpoint of another log is worth nothing. */
  identity(): Promise<string>
  /**
   * Why the log takes no appends but those that `passes` (domain/moving.ts) lets through: another process has fenced it,
   * or it is not completely filled. Undefined where it takes all.
   * @throws StoreUnavailable
   */
  closedReason(): Promise<ReadOnlyState | undefined>
  /**
   * Why the disk behind it takes no appends at this moment, in an operator's words; undefined where it takes them, or where
   * that is a server's to know. Where the last append failed by the disk, it is found out by writing.
   */
  diskErrorMessage(): Promise<string | undefined>
  /**
   * Milliseconds after a fence was appended from which on no append is stored any more that any process had on its way;
   * 0 where each transaction looks for the fence.
   */
  readonly fenceDelayMs: number
  /** When the server behind it last said anything, in milliseconds of the monotonic clock; without it there is no server. */
  heardAt?(): number
}

/** Negative when `a` comes before `b`. */
export function comparePositions(a: PositionOrStart, b: PositionOrStart): number {
  if (a === 'start') return b === 'start' ? 0 : -1
  if (b === 'start') return 1
  if (a.commit !== b.commit) return a.commit < b.commit ? -1 : 1
  return a.prepare === b.prepare ? 0 : a.prepare < b.prepare ? -1 : 1
}

/** A position as people and other programs see it: `events` prints it so, `replay --until` takes it. */
export const formatPosition = ({ commit, prepare }: Position): string =>
  commit === prepare ? `${commit}` : `${commit}/${prepare}`

/** Another writer was first: the stream is not at the expected revision. */
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

/** @property store as people call it, such as EventStoreDB; unless told, the cause's, or `a file or disk` */
export type StorageErrorOptions = ErrorOptions & { readonly store?: string }

/** A store could not do what it was asked for; it is named, so that an outage is told once for all who meet it. */
export class StorageError extends Error {
  override readonly name: string = 'StoreFault'
  readonly store: string

  constructor(message?: string, { store, cause }: StorageErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.store = store ?? (cause instanceof StorageError ? cause.store : 'a file or disk')
  }
}

/** The append may have been stored, or may be later. Only reading the stream again tells. */
export class OutcomeUnknown extends StorageError {
  override readonly name = 'OutcomeUnknown'
}

/** What is stored of an event is no event any more: it was changed behind the log's back, or the disk lost it. */
export class CorruptEvent extends Error {
  override readonly name = 'DamagedEvent'
  constructor(
    readonly event: Pick<StoredEvent, 'stream' | 'revision' | 'position'>,
    options?: ErrorOptions,
  ) {
    const { stream, revision, position } = event
    super(`${stream}@${revision}, at position ${position.commit}, is damaged: its text is no JSON any more`, options)
  }
}

/** The store can't be reached or can't take writes now; nothing was stored. */
export class StoreUnavailable extends StorageError {
  override readonly name: string = 'StoreUnavailable'
}

/** The log takes no writes, and another one may: nothing was stored. */
export class LogClosed extends StoreUnavailable {
  override readonly name = 'LogClosed'
  constructor(readonly reason: ReadOnlyState) {
    super(describeReadOnlyState(reason))
  }
}
