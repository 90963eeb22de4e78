import type { From } from '../ports/event-store.ts'
import type { Checkpoint } from '../ports/read-store.ts'

/** A position as it is stored. The start is before every place: -1. */
export type Place = { readonly commit: bigint; readonly prepare: bigint }

/** A checkpoint as it is stored. */
export type Reached = Place & { readonly log: string; readonly event: (Place & { readonly id: string }) | null }

const START: Place = { commit: -1n, prepare: -1n }

export const placeOf = (position: From): Place =>
  position === 'start' ? START : { commit: position.commit, prepare: position.prepare }

export const positionOf = ({ commit, prepare }: Place): From => (commit < 0n ? 'start' : { commit, prepare })

export const reachedOf = ({ position, log, event }: Checkpoint): Reached => ({
  ...placeOf(position),
  log,
  event: event && { ...placeOf(event.position), id: event.id },
})

export const checkpointOf = ({ log, event, ...place }: Reached): Checkpoint => ({
  position: positionOf(place),
  log,
  event: event && { id: event.id, position: { commit: event.commit, prepare: event.prepare } },
})
