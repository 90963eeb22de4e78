import { retriesStream } from '../../domain/installation/installation.ts'
import { isKnownType, type EventType } from '../../events/registry.ts'
import type { Batch, EventStore, From, StoredEvent } from '../../stores/ports/event-store.ts'

/** What is followed: streams, and in them types of events. */
export type Following = {
  /** The streams, by prefix. */
  readonly follows: readonly string[]
  /** The types that are handled; all unless told. */
  readonly on?: readonly EventType[]
}

/** Whether an event is handled. Events of a newer release are, too: what they mean is not known. */
export const handles = ({ on }: Pick<Following, 'on'>, { type }: StoredEvent): boolean =>
  on === undefined || (on as readonly string[]).includes(type) || !isKnownType(type)

/** The streams that a follower of this name reads: requests to try its dead letters again are among them. */
export const prefixesOf = (name: string, { follows }: Pick<Following, 'follows'>): readonly string[] => [
  ...follows,
  retriesStream(name),
]

/** From where on, and which streams. */
export type Followed = { readonly from: From; readonly prefixes: readonly string[] }

/**
 * Hands every batch behind a place of the log to `take`, one after another, and goes on with what comes.
 * @param take answers 'over' where it wants no more
 * @throws what `take` rejects with, what breaks the log off, and the signal's reason where it is aborted already
 */
export async function follow(
  store: Pick<EventStore, 'subscribe'>,
  { from, prefixes }: Followed,
  take: (batch: Batch) => Promise<void | 'over'>,
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
