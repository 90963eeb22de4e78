import type { Batch, EventStore, From } from '../../stores/ports/event-store.ts'

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
