import { comparePositions, type EventStore } from '../../stores/ports/event-store.ts'
import type { Checkpoint } from '../../stores/ports/read-store.ts'
import { lineOf } from './log-line.ts'

/** A checkpoint is worth something only where the log at hand is its log, in the same epoch, and holds the very event that it names. */
export async function belongs(store: EventStore, { log, event }: Checkpoint): Promise<boolean> {
  if (log !== (await lineOf(store))) return false
  return event === null || (await store.eventAt(event.position))?.id === event.id
}

/**
 * The checkpoint with the event at its very position, of whatever stream: a log that was restored to somewhere between
 * the last event that was folded and the position would hold the one and have other events up to the other.
 */
export async function anchored<Known extends Pick<Checkpoint, 'position' | 'event'>>(
  store: Pick<EventStore, 'eventAt'>,
  checkpoint: Known,
): Promise<Known> {
  const { position, event } = checkpoint
  if (position === 'start' || (event !== null && comparePositions(event.position, position) === 0)) return checkpoint
  const found = await store.eventAt(position)
  return found === undefined ? checkpoint : { ...checkpoint, event: { id: found.id, position: found.position } }
}
