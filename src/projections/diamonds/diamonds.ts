import { evolve, unknown, type DiamondCreated, type DiamondEvent } from '../../domain/diamond/diamond.ts'
import type { DiamondScored } from '../../domain/diamond/scores.ts'
import { touchesScores } from '../../domain/diamond/scoring-state.ts'
import { diamondStream, scoresStream } from '../../domain/diamond/streams.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'
import type { Document } from '../../stores/ports/read-store.ts'
import { decode } from '../../events/decode.ts'
import { etag, fromDocument, toDocument, withScores, type DiamondView } from './diamond-document.ts'
import type { ApiVersion } from '../../domain/diamond/field.ts'
import { bodyText } from '../../representations/diamond/body.ts'
import { scoresTexts } from '../../representations/diamond/scores.ts'
import { readModel } from '../engine/read-model.ts'

/** What lists filter and order by, and both finished bodies. */
export const diamonds = readModel<DiamondView>({
  name: 'diamonds',
  version: 5,
  follows: ['diamond-', 'scores-'],
  documents: {
    fields: {
      id: 'integer',
      owner: 'integer',
      date: 'integer',
      sku: 'text',
      isColored: 'integer',
      isPublished: 'integer',
      etag: 'text',
      changedAt: 'integer',
    },
    texts: ['state', 'v3', 'v4'],
    indexes: [
      ['owner', 'date', 'id'],
      ['owner', 'sku', 'date', 'id'],
      ['owner', 'isColored', 'date', 'id'],
      ['owner', 'isPublished', 'date', 'id'],
      ['owner', 'isColored', 'isPublished', 'date', 'id'],
    ],
    counts: ['owner', 'isColored', 'isPublished'],
  },
  together: (stream) => [diamondStream(idIn(stream)), scoresStream(idIn(stream))],
  keyOf: ({ stream }) => (isDiamonds(stream) ? idIn(stream) : undefined),
  begins: ({ type, revision }) => type === 'DiamondCreated' && revision === 0n,
  apply: (view, event) => (isOfScores(event) ? applyScores(view, event) : applyDiamond(view, event)),
  toDocument,
  stateTexts: ['state', 'v3', 'v4'],
  fromDocument,
  amend: (document, event) => (isOfScores(event) ? amendScores(document, event) : undefined),
})

/** On a server that others write to as well, a prefix alone is no sign of ours. */
const isDiamonds = (stream: string) => Number.isSafeInteger(idIn(stream))

/** `diamond-337` and `scores-337` → 337 */
const idIn = (stream: string) => Number(stream.slice(stream.indexOf('-') + 1))

const isOfScores = ({ stream }: StoredEvent) => stream.startsWith('scores-')

/** The stream says which revision comes next; a gap means that the log or the model is not what it should be. */
export class RevisionGap extends Error {
  override readonly name = 'RevisionGap'
}

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

/** An event that would put one diamond in the place of another. */
export class WrongStream extends Error {
  override readonly name = 'WrongStream'
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

/** Scores of an older stone, or of one that is gone, are ignored. */
function applyScores(view: DiamondView | undefined, event: StoredEvent): DiamondView | undefined {
  if (view === undefined || Number(event.revision) <= view.scoresRevision) return view
  const { data } = decode<DiamondScored>(event)
  if (data.revision < view.stoneRevision) return view
  return { ...view, scores: data.scores, scoresRevision: Number(event.revision), changedAt: timeOf(event) }
}

const amendScores = (document: Document, event: StoredEvent) =>
  withScores(document, { revision: Number(event.revision), at: timeOf(event) }, () => decode<DiamondScored>(event).data)

const timeOf = ({ metadata }: StoredEvent): number => Date.parse(metadata['at'] ?? '') || 0

/** A diamond as its creation answers it, before anything else happened to it. */
export function renderBorn(
  version: ApiVersion,
  born: DiamondCreated,
): { readonly etag: string; readonly body: string } {
  const view = folded(undefined, born, { revision: 0, changedAt: born.data.date * 1000 })
  if (view === undefined) throw new Error('a created diamond is live')
  const scores = scoresTexts(null)[version]
  return { etag: etag(view), body: bodyText(version, view.diamond, scores) }
}
