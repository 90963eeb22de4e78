import { randomUUID } from 'node:crypto'
import { CHECKPOINTS_STREAM, type CheckpointSigned } from '../../domain/installation/evidence.ts'
import { decode } from '../../events/decode.ts'
import type { Origin } from '../../events/origin.ts'
import { WrongRevision, type EventStore, type Revision } from '../../stores/ports/event-store.ts'
import { stamp } from '../core/stamp.ts'

const ORIGIN: Origin = { actor: 'service', via: 'projection', correlation: 'checkpoint' }

/** What was signed last, and its place among all that was signed. */
export type LastSigned = { readonly note: string; readonly revision: bigint }

/** @throws StoreUnavailable */
export async function lastSigned(store: Pick<EventStore, 'read'>): Promise<LastSigned | undefined> {
  const [last] = await store.read(CHECKPOINTS_STREAM, { last: 1 })
  return last && { note: decode<CheckpointSigned>(last).data.checkpoint, revision: last.revision }
}

/**
 * Makes a checkpoint known, as the one behind `last`: of two processes that sign at once, one does.
 * @returns false when another process was first
 * @throws LogClosed, StoreUnavailable
 */
export async function keepSigned(
  store: Pick<EventStore, 'append'>,
  note: string,
  last: Revision,
  now: number,
): Promise<boolean> {
  const event: CheckpointSigned = { type: 'CheckpointSigned', data: { checkpoint: note } }
  try {
    await store.append(CHECKPOINTS_STREAM, last, [stamp(ORIGIN, now)(randomUUID(), event)])
    return true
  } catch (error) {
    if (error instanceof WrongRevision) return false
    throw error
  }
}
