import type { Decider } from '../../domain/decider.ts'
import { CHECKPOINTS_STREAM, type CheckpointSigned } from '../../domain/installation/keys.ts'
import { decode } from '../../events/decode.ts'
import type { Origin } from '../../events/origin.ts'
import type { EventStore, Revision } from '../../stores/ports/event-store.ts'
import { handle, type Writing } from '../core/handle.ts'

const ORIGIN: Origin = { actor: 'service', via: 'projection', correlation: 'checkpoint' }

/** Only where the stream ends matters. */
const decider: Decider<null, CheckpointSigned> = {
  initialState: null,
  evolve: () => null,
  newest: { count: 1, suffices: () => true },
}

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
export async function keepSigned(writing: Writing, note: string, last: Revision): Promise<boolean> {
  const signed: CheckpointSigned = { type: 'CheckpointSigned', data: { checkpoint: note } }
  const wish = { stream: CHECKPOINTS_STREAM, origin: ORIGIN }
  const decide = (_state: null, _now: number, revision: Revision) => (revision === last ? [signed] : [])
  return (await handle(writing, wish, decider, decide)).events.length > 0
}
