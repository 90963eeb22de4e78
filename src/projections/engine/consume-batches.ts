import { retriesStream } from '../../domain/installation/installation.ts'
import { isKnownEventType, type EventType } from '../../events/registry.ts'
import type { SubscriptionBatch, EventStore, PositionOrStart, StoredEvent } from '../../stores/ports/event-store.ts'

/** What is followed: streams, and in them types of events. */
export type ConsumerFilter = {
  /** The streams, by prefix. */
  readonly streamPrefixes: readonly string[]
  /** The types that are handled; all unless told. */
  readonly eventTypes?: readonly EventType[]
}

/** Whether an event is handled. Events of a newer release are, too: what they mean is not known. */
export const handles = ({ eventTypes }: Pick<ConsumerFilter, 'eventTypes'>, { type }: StoredEvent): boolean =>
  eventTypes === undefined || (eventTypes as readonly string[]).includes(type) || !isKnownEventType(type)

/** The streams that a follower of this name reads: requests to try its dead letters again are among them. */
export const prefixesOf = (
  name: string,
  { streamPrefixes }: Pick<ConsumerFilter, 'streamPrefixes'>,
): readonly string[] => [...streamPrefixes, retriesStream(name)]

/** From where on, and which streams. */
export type CatchUpOptions = { readonly from: PositionOrStart; readonly prefixes: readonly string[] }

/**
 * Hands every batch behind a place of the log to `take`, one after another, and goes on with what comes.
 * @param take answers 'over' where it wants no more
 * @throws what `take` rejects with, what breaks the log off, and the signal's reason where it is aborted already
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
