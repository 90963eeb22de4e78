import type { EventStore } from '../stores/event-store.ts'
import type { Checkpoint } from '../stores/read-store.ts'

/** A checkpoint is worth something only where the log at hand is its log and holds the very event that it names. */
export async function belongs(store: EventStore, { log, event }: Checkpoint): Promise<boolean> {
  if (log !== (await store.identity())) return false
  return event === null || (await store.eventAt(event.position))?.id === event.id
}
