import { eventTimeOf } from '../../events/event-metadata.ts'
import {
  diamondFold,
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

/** A diamond with the state of its two streams. */
export type DiamondView = {
  readonly diamond: LiveDiamond
  readonly revision: number
  /** Revision of the last event that changed the inputs of scoring. */
  readonly stoneRevision: number
  /** null until they are computed for the current stone. */
  readonly scores: ScoresJson | null
  /** -1 without scores. */
  readonly scoresRevision: number
  /** When the diamond or its scores last changed, in milliseconds since 1970. */
  readonly changedAt: number
}

/** Revisions of a stream are consecutive; a gap means that the log or the read model is corrupt. */
class RevisionGap extends Error {
  override readonly name = 'RevisionGap'
}

/** An event that would overwrite a diamond of another stream. */
class WrongStream extends Error {
  override readonly name = 'WrongStream'
}

/** @throws RevisionGap, WrongStream, and the errors of `decode` */
export const applyEvent = (view: DiamondView | undefined, event: StoredEvent): DiamondView | undefined =>
  isScoresEvent(event) ? applyScores(view, event) : applyDiamond(view, event)

export const isScoresEvent = ({ stream }: StoredEvent) => stream.startsWith('scores-')

function applyDiamond(view: DiamondView | undefined, event: StoredEvent): DiamondView | undefined {
  const revision = Number(event.revision)
  const currentRevision = view?.revision ?? -1
  if (view !== undefined && revision <= currentRevision) return view
  if (view === undefined && event.type === 'DiamondDeleted') return undefined
  if (revision !== currentRevision + 1) {
    throw new RevisionGap(
      `${event.stream} is at revision ${currentRevision} in the read model, but the next event has revision ${revision}`,
    )
  }
  const after = evolveView(view, decode<DiamondEvent>(event), { revision, changedAt: eventTimeOf(event) })
  if (after === undefined || event.stream === diamondStream(after.diamond.id)) return after
  throw new WrongStream(`${event.stream} says that it is diamond ${after.diamond.id}, which has another stream`)
}

/** The view of a diamond just after its creation. */
export function viewOfNew(created: DiamondCreated): DiamondView {
  const view = evolveView(undefined, created, { revision: 0, changedAt: created.data.date * 1000 })
  if (view === undefined) throw new Error('a created diamond is live')
  return view
}

/** An event that changes the inputs of scoring drops the scores. */
function evolveView(
  view: DiamondView | undefined,
  event: DiamondEvent,
  { revision, changedAt }: Pick<DiamondView, 'revision' | 'changedAt'>,
): DiamondView | undefined {
  const diamond = diamondFold.evolve(view?.diamond ?? diamondFold.initialState, event)
  if (diamond.status !== 'live') return undefined
  const scoresRevision = view?.scoresRevision ?? -1
  if (view === undefined || invalidatesScores(event)) {
    return { diamond, revision, stoneRevision: revision, scores: null, scoresRevision, changedAt }
  }
  return { ...view, diamond, revision, changedAt }
}

/** Ignores scores that are already applied, of an older stone, or of a deleted diamond. */
function applyScores(view: DiamondView | undefined, event: StoredEvent): DiamondView | undefined {
  const scoresRevision = Number(event.revision)
  if (view === undefined || scoresRevision <= view.scoresRevision) return view
  const { revision, scores } = decode<DiamondScored>(event).data
  if (revision < view.stoneRevision) return view
  return { ...view, scores: toScoresJson('v4', scores), scoresRevision, changedAt: eventTimeOf(event) }
}

/** R: the revision of the last change by the owner, including certifications. */
export const ownersRevision = ({ diamond, revision }: DiamondView): number =>
  revision - diamond.serviceEventsSinceOwnerChange

/** `R.S`; S counts the changes by the service since then (scores and warnings). */
export const revisionText = (view: DiamondView): string =>
  `${ownersRevision(view)}.${view.scoresRevision + 1 + view.diamond.warningsSinceOwnerChange}`

export const etagOf = (view: DiamondView): string => `"${revisionText(view)}"`
