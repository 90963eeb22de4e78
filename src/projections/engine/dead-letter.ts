import type { StoredEvent } from '../../stores/ports/event-store.ts'
import type { DeadLetter } from '../../stores/ports/read-store.ts'

/** Characters of a reason that are kept. */
const REASON_MAX = 500

/** What is kept of an event that was set aside. */
export const letter = (event: StoredEvent, error: unknown): DeadLetter => ({
  stream: event.stream,
  revision: event.revision,
  position: event.position,
  event: event.id,
  type: event.type,
  reason: error instanceof Error ? `${error.name}: ${error.message}`.slice(0, REASON_MAX) : 'unknown',
})
