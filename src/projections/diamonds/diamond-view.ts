import { eventTimeOf } from '../../events/event-metadata.ts'
import {
  diamondDecider,
  diamondStream,
  type DiamondCreated,
  type DiamondEvent,
  type LiveDiamond,
} from '../../domain/diamond/diamond.ts'
import type { DiamondScored } from '../../domain/diamond/scores.ts'
import { invalidatesScores } from '../../domain/diamond/score-basis.ts'
import { decode } from '../../events/decode.ts'
import { toScoresJson, type ScoresJson } from '../../representations/diamond/scores-json.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'

/** A diamond, and what is known of its two streams. */
export type DiamondView = {
  readonly diamond: LiveDiamond
  readonly revision: number
  /** Revision of the diamond's last event that changed what scores are computed from. */
  readonly stoneRevision: number
  /** null until they are computed for the stone as it is now. */
  readonly scores: ScoresJson | null
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
  isScoresEvent(event) ? applyScores(view, event) : applyDiamond(view, event)

export const isScoresEvent = ({ stream }: StoredEvent) => stream.startsWith('scores-')

function applyDiamond(view: DiamondView | undefined, event: StoredEvent): DiamondView | undefined {
  const revision = Number(event.revision)
  const known = view?.revision ?? -1
  if (view !== undefined && revision <= known) return view
  if (view === undefined && event.type === 'DiamondDeleted') return undefined
  if (revision !== known + 1) {
    throw new RevisionGap(`${event.stream} is at revision ${known} here, and the next event has ${revision}`)
  }
  const after = evolveView(view, decode<DiamondEvent>(event), { revision, changedAt: eventTimeOf(event) })
  if (after === undefined || event.stream === diamondStream(after.diamond.id)) return after
  throw new WrongStream(`${event.stream} says that it is diamond ${after.diamond.id}, which stands elsewhere`)
}

/** A diamond as its creation left it. */
export function viewOfNew(created: DiamondCreated): DiamondView {
  const view = evolveView(undefined, created, { revision: 0, changedAt: created.data.date * 1000 })
  if (view === undefined) throw new Error('a created diamond is live')
  return view
}

/** Scores of a stone as it was before show on it no longer. */
function evolveView(
  view: DiamondView | undefined,
  event: DiamondEvent,
  { revision, changedAt }: Pick<DiamondView, 'revision' | 'changedAt'>,
): DiamondView | undefined {
  const diamond = diamondDecider.evolve(view?.diamond ?? diamondDecider.initialState, event)
  if (diamond.status !== 'live') return undefined
  const scoresRevision = view?.scoresRevision ?? -1
  if (view === undefined || invalidatesScores(event)) {
    return { diamond, revision, stoneRevision: revision, scores: null, scoresRevision, changedAt }
  }
  return { ...view, diamond, revision, changedAt }
}

/** Scores that are known, that are of an older stone, or of one that is gone, change nothing. */
function applyScores(view: DiamondView | undefined, event: StoredEvent): DiamondView | undefined {
  const scoresRevision = Number(event.revision)
  if (view === undefined || scoresRevision <= view.scoresRevision) return view
  const { revision, scores } = decode<DiamondScored>(event).data
  if (revision < view.stoneRevision) return view
  return { ...view, scores: toScoresJson('v4', scores), scoresRevision, changedAt: eventTimeOf(event) }
}

/** R: the revision of the owner's last change, certifications too. */
export const ownersRevision = ({ diamond, revision }: DiamondView): number => revision - diamond.readingsBehind

/** `R.S`. S: how often the service found out something since. */
export const revisionText = (view: DiamondView): string =>
  `${ownersRevision(view)}.${view.scoresRevision + 1 + view.diamond.warningsBehind}`

/** `"R.S"` */
export const etagOf = (view: DiamondView): string => `"${revisionText(view)}"`
