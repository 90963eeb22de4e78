import { scoredId } from '../../commands/scores/score-diamonds.ts'
import { RESTORES_STREAM } from '../../domain/installation/installation.ts'
import { eventId } from '../../events/origin.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'

/**
 * What is wrong with the id of an event where it follows from what the event says; undefined where nothing is. Ids of commands follow from
 * the command's own id, which is nowhere on record.
 */
export function wrongId(event: StoredEvent): string | undefined {
  const promised = promisedId(event)
  return promised === undefined || promised === event.id ? undefined : `has the id ${event.id}, not ${promised}`
}

function promisedId({ type, stream, data }: StoredEvent): string | undefined {
  if (type === 'DiamondScored') return idOfScores(data)
  if (type === 'LogRestored' && stream === RESTORES_STREAM) return eventId(`${stream}/restored/${data['epoch']}`, 0)
  return undefined
}

/** Where one of the two models gave no score, its version is nowhere on record. */
function idOfScores({ id, revision, scores }: StoredEvent['data']): string | undefined {
  const { fluor, ...optical } = (scores ?? {}) as Readonly<Record<string, { readonly ver?: unknown } | null>>
  const optics = Object.values(optical).find((score) => typeof score?.ver === 'string')?.ver
  if (typeof id !== 'number' || typeof revision !== 'number') return undefined
  if (typeof optics !== 'string' || typeof fluor?.ver !== 'string') return undefined
  return scoredId(id, revision, `${optics},${fluor.ver}`)
}
