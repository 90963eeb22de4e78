import type { PositionOrStart } from '../ports/event-store.ts'
import type { Checkpoint } from '../ports/read-store.ts'

/** A stored position. The start is stored as -1, before every position. */
export type PositionDocument = { readonly commit: bigint; readonly prepare: bigint }

export type CheckpointDocument = PositionDocument & {
  readonly log: string
  readonly event: (PositionDocument & { readonly id: string }) | null
}

const ENCODED_START: PositionDocument = { commit: -1n, prepare: -1n }

export const encodePosition = (position: PositionOrStart): PositionDocument =>
  position === 'start' ? ENCODED_START : { commit: position.commit, prepare: position.prepare }

export const decodePosition = ({ commit, prepare }: PositionDocument): PositionOrStart =>
  commit < 0n ? 'start' : { commit, prepare }

export const encodeCheckpoint = ({ position, log, event }: Checkpoint): CheckpointDocument => ({
  ...encodePosition(position),
  log,
  event: event && { ...encodePosition(event.position), id: event.id },
})

export const decodeCheckpoint = ({ log, event, ...position }: CheckpointDocument): Checkpoint => ({
  position: decodePosition(position),
  log,
  event: event && { id: event.id, position: { commit: event.commit, prepare: event.prepare } },
})
