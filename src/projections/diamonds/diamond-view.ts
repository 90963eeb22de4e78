import { evolve, unknown, type DiamondEvent, type LiveDiamond } from '../../domain/diamond/diamond.ts'
import type { DiamondScored, Scores } from '../../domain/diamond/scores.ts'
import { touchesScores } from '../../domain/diamond/scoring-state.ts'
import { diamondStream } from '../../domain/diamond/streams.ts'
import { decode } from '../../events/decode.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'

/** A diamond, and what is known of its two streams. */
export type DiamondView = {
  readonly diamond: LiveDiamond
  readonly revision: number
  /** Revision of the diamond's last event that changed what scores are computed from. */
  readonly stoneRevision: number
  /** null until they are computed for the stone as it is now. */
  readonly scores: Scores | null
  /** -1 until there were scores. */
  readonly scoresRevision: number
  /** When it became what it is, its scores too, in milliseconds since 1970: nobody has a copy of it that is older. */
  readonly changedAt: number
}

/** The stream says which revision comes next; a gap means that the log or the model is not what it should be. */
class RevisionGap extends Error {
  override readonly name = 'RevisionGap'
}

/** An event that would put one diamond in the place of another. */
class WrongStream extends Error {
  override readonly name = 'WrongStream'
}

/** @throws RevisionGap, WrongStream, and what `decode` throws */
export const applyEvent = (view: DiamondView | undefined, event: StoredEvent): DiamondView | undefined =>
  isOfScores(event) ? applyScores(view, event) : applyDiamond(view, event)

export const isOfScores = ({ stream }: StoredEvent) => stream.startsWith('scores-')

function applyDiamond(view: DiamondView | undefined, event: StoredEvent): DiamondView | undefined {
  const revision = Number(event.revision)
  const known = view?.revision ?? -1
  if (view !== undefined && revision <= known) return view
  if (view === undefined && event.type === 'DiamondDeleted') return undefined
  if (revision !== known + 1) {
    throw new RevisionGap(`${event.stream} is at revision ${known} here, and the next event has ${revision}`)
  }
  const after = folded(view, decode<DiamondEvent>(event), { revision, changedAt: timeOf(event) })
  if (after === undefined || event.stream === diamondStream(after.diamond.id)) return after
  throw new WrongStream(`${event.stream} says that it is diamond ${after.diamond.id}, which stands elsewhere`)
}

/** Scores of a stone as it was before show on it no longer. */
export function folded(
  view: DiamondView | undefined,
  event: DiamondEvent,
  { revision, changedAt }: Pick<DiamondView, 'revision' | 'changedAt'>,
): DiamondView | undefined {
  const diamond = evolve(view?.diamond ?? unknown, event)
  if (diamond.status !== 'live') return undefined
  const scoresRevision = view?.scoresRevision ?? -1
  if (view === undefined || touchesScores(event)) {
    return { diamond, revision, stoneRevision: revision, scores: null, scoresRevision, changedAt }
  }
  return { ...view, diamond, revision, changedAt }
}

/** What an event brings of scores, asked of it only where its revision is news. */
export type Brought = { readonly scoresRevision: number; readonly changedAt: number; scored(): DiamondScored['data'] }

export const broughtBy = (event: StoredEvent): Brought => ({
  scoresRevision: Number(event.revision),
  changedAt: timeOf(event),
  scored: () => decode<DiamondScored>(event).data,
})

/**
 * The scores that an event brings to a diamond; undefined where they are known, or are of an older stone: those, and
 * scores of one that is gone, are ignored.
 */
export function news(
  known: Pick<DiamondView, 'scoresRevision' | 'stoneRevision'>,
  { scoresRevision, scored }: Brought,
) {
  if (scoresRevision <= known.scoresRevision) return undefined
  const { revision, scores } = scored()
  return revision < known.stoneRevision ? undefined : scores
}

function applyScores(view: DiamondView | undefined, event: StoredEvent): DiamondView | undefined {
  if (view === undefined) return view
  const { scored: _scored, ...brought } = broughtBy(event)
  const scores = news(view, broughtBy(event))
  return scores === undefined ? view : { ...view, ...brought, scores }
}

const timeOf = ({ metadata }: StoredEvent): number => Date.parse(metadata['at'] ?? '') || 0
