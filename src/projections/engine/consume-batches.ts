import { retriesStream } from '../../domain/installation/installation.ts'
import { isKnownEventType, type EventType } from '../../events/registry.ts'
import type { SubscriptionBatch, EventStore, PositionOrStart, StoredEvent } from '../../stores/ports/event-store.ts'

/** Which streams, and which types of events in them, a consumer subscribes to. */
export type ConsumerFilter = {
  readonly streamPrefixes: readonly string[]
  /** All types by default. */
  readonly eventTypes?: readonly EventType[]
}

/** Whether an event is handled. Events of unknown types, written by a newer release, are handled too. */
export const handles = ({ eventTypes }: Pick<ConsumerFilter, 'eventTypes'>, { type }: StoredEvent): boolean =>
  eventTypes === undefined || (eventTypes as readonly string[]).includes(type) || !isKnownEventType(type)

/** The prefixes that a consumer subscribes to: its own, and the stream of requests to retry its dead letters. */
export const prefixesOf = (
  name: string,
  { streamPrefixes }: Pick<ConsumerFilter, 'streamPrefixes'>,
): readonly string[] => [...streamPrefixes, retriesStream(name)]

type CatchUpOptions = { readonly from: PositionOrStart; readonly prefixes: readonly string[] }

/**
 * Passes each batch after a position to `take`, sequentially, and continues with new ones at the head.
 * @param take returns 'over' to end
 * @throws the rejection of `take`, the subscription's error, or the signal's reason if it is already aborted
 */
export async function consumeBatches(
  store: Pick<EventStore, 'subscribe'>,
  { from, prefixes }: CatchUpOptions,
  take: (batch: SubscriptionBatch) => Promise<void | 'over'>,
  signal: AbortSignal,
): Promise<void> {
  const subscription = store.subscribe(from, { prefixes })
  const stop = () => subscription.stop()
  signal.addEventListener('abort', stop, { once: true })
  try {
    signal.throwIfAborted()
    for await (const batch of subscription) if ((await take(batch)) === 'over' || signal.aborted) return
  } finally {
    signal.removeEventListener('abort', stop)
    subscription.stop()
  }
}
