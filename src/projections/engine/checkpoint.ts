import { readEpoch } from '../../commands/installation/restore-log.ts'
import { FIRST_EPOCH } from '../../domain/installation/installation.ts'
import { comparePositions, type Batch, type EventStore } from '../../stores/ports/event-store.ts'
import type { Checkpoint } from '../../stores/ports/read-store.ts'

/**
 * Names a log and its epoch: `IDENTITY`, or `IDENTITY/EPOCH` since it was restored. Checkpoints carry it, so that what was
 * folded in days which are lost is worth nothing, wherever it had come to.
 * @throws StoreUnavailable
 */
export async function lineOf(store: Pick<EventStore, 'identity' | 'read'>): Promise<string> {
  const identity = await store.identity()
  const epoch = await readEpoch(store)
  return epoch === FIRST_EPOCH ? identity : `${identity}/${epoch}`
}

/** What a line names. */
export function parseLine(line: string): { readonly identity: string; readonly epoch: number } {
  const [identity = '', epoch] = line.split('/')
  return { identity, epoch: Number(epoch ?? FIRST_EPOCH) }
}

/** A checkpoint is worth something only where the log at hand is its log, in the same epoch, and holds the very event that it names. */
export async function isOfLog(store: EventStore, { log, event }: Pick<Checkpoint, 'log' | 'event'>): Promise<boolean> {
  if (log !== (await lineOf(store))) return false
  return event === null || (await store.eventAt(event.position))?.id === event.id
}

/** The newest event that a batch names, which is the one at its position where the log had that at hand. */
export function newestIn({ events, last = events.at(-1) }: Pick<Batch, 'events' | 'last'>): Checkpoint['event'] {
  return last === undefined ? null : { id: last.id, position: last.position }
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
