import { traceIdOf } from '../../events/event-metadata.ts'
import {
  comparePositions,
  CorruptEvent,
  type EventStore,
  type PositionOrStart,
  type StoredEvent,
} from '../../stores/ports/event-store.ts'
import { readEveryEvent } from '../../events/read-every-event.ts'

/** Conditions that events must meet; an undefined condition matches every event. */
export type EventQuery = {
  readonly streams: StreamSelection
  readonly from: PositionOrStart
  readonly type: readonly string[] | undefined
  /** Milliseconds since 1970, both inclusive. */
  readonly since: number | undefined
  readonly until: number | undefined
  /** `account-7`, `operator`, ... */
  readonly actor: string | undefined
  readonly correlation: string | undefined
  /** W3C trace id. */
  readonly trace: string | undefined
}

/** `some`: the streams whose names start with one of the prefixes. */
export type StreamSelection =
  | { readonly kind: 'one'; readonly stream: string }
  | { readonly kind: 'some'; readonly prefixes: readonly string[] }
  | { readonly kind: 'all' }

/**
 * The matching events in log order, up to the head at the time of the call. The store filters by stream, this function by
 * the other conditions. It reads on after `until`: machines' clocks differ, so later events may have earlier times.
 * @param onDamagedEvent called in log order for each event that cannot be read; reading continues after it
 * @throws StoreUnavailable
 */
export async function* readMatchingEvents(
  store: EventStore,
  query: EventQuery,
  onDamagedEvent: (error: CorruptEvent) => void,
): AsyncGenerator<StoredEvent> {
  for await (const event of readSelectedStreams(store, query, onDamagedEvent))
    if (matchesQuery(event, query)) yield event
}

async function* readSelectedStreams(
  store: EventStore,
  { streams, from }: EventQuery,
  onDamagedEvent: (error: CorruptEvent) => void,
): AsyncGenerator<StoredEvent> {
  const streamEvents = streams.kind === 'one' ? await readIntactStream(store, streams.stream) : undefined
  if (streamEvents === undefined) return yield* readEveryEvent(store, from, onDamagedEvent, toStreamFilter(streams))
  for (const event of streamEvents) if (comparePositions(event.position, from) > 0) yield event
}

/** Reads one stream directly; undefined if one of its events is damaged, since intact events may follow it. */
async function readIntactStream(store: EventStore, stream: string): Promise<StoredEvent[] | undefined> {
  try {
    return await store.readStream(stream)
  } catch (error) {
    if (error instanceof CorruptEvent) return undefined
    throw error
  }
}

/** Like `readMatchingEvents`, and then new events as they are appended, until `signal` aborts. */
export async function* followMatchingEvents(
  store: EventStore,
  query: EventQuery,
  signal: AbortSignal,
): AsyncGenerator<StoredEvent> {
  const subscription = store.subscribe(query.from, toStreamFilter(query.streams))
  signal.addEventListener('abort', () => subscription.stop())
  for await (const { events } of subscription) {
    for (const event of events) if (matchesQuery(event, query)) yield event
  }
}

function toStreamFilter(streams: StreamSelection) {
  if (streams.kind === 'all') return undefined
  return { prefixes: streams.kind === 'one' ? [streams.stream] : streams.prefixes }
}

function matchesQuery(
  event: StoredEvent,
  { streams, type, since, until, actor, correlation, trace }: EventQuery,
): boolean {
  const { metadata } = event
  if (streams.kind === 'one' && event.stream !== streams.stream) return false
  if (type !== undefined && !type.includes(event.type)) return false
  if (actor !== undefined && metadata['actor'] !== actor) return false
  if (correlation !== undefined && metadata['$correlationId'] !== correlation) return false
  if (trace !== undefined && traceIdOf(metadata['traceparent'] ?? '') !== trace) return false
  return isWithinTimeRange(metadata['at'], since, until)
}

/** An event without a valid time is in every range. */
function isWithinTimeRange(at: string | undefined, since = -Infinity, until = Infinity): boolean {
  const time = Date.parse(at ?? '')
  return Number.isNaN(time) || (time >= since && time <= until)
}
