import { epochOf, RESTORES_STREAM } from '../../domain/installation/installation.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'

/** The epoch that the log is in now. @throws StoreUnavailable */
export async function readEpoch(store: Pick<EventStore, 'read'>): Promise<number> {
  const [last] = await store.read(RESTORES_STREAM, { last: 1 })
  return epochOf(last)
}
