import { unchangedAccess, type AccessRevisions } from '../../domain/diamond/access.ts'
import type { LiveDiamond } from '../../domain/diamond/diamond.ts'
import { completed, withoutDefaults, type NewDiamond } from '../../domain/diamond/fields.ts'
import type { Scores } from '../../domain/diamond/scores.ts'
import type { Document } from '../../stores/ports/read-store.ts'
import { bodyText } from '../../representations/diamond/body.ts'
import { scoresTexts } from '../../representations/diamond/scores.ts'

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

/**
 * What is kept of a view beside its bodies, of which v4 has the scores. Fields at their defaults are left out, most of
 * them are. What `withScores` looks at comes first.
 */
type State = Omit<DiamondView, 'diamond' | 'scores' | 'changedAt'> & {
  readonly diamond: Omit<LiveDiamond, 'fields' | 'accessRevisions'> & {
    readonly set: NewDiamond
    /** Left out where nothing of the access was ever changed, as of most stones. */
    readonly accessRevisions?: AccessRevisions
  }
}

/** `"R.S"`: R the revision of the owner's last change, certifications too; S the number of times it was scored. */
export const etag = ({ diamond, revision, scoresRevision }: DiamondView): string =>
  `"${revision - diamond.readingsBehind}.${scoresRevision + 1 + diamond.contradictionsBehind}"`

export function toDocument(view: DiamondView): Document {
  const { diamond, scores, changedAt } = view
  const { id, owner, date, fields } = diamond
  const texts = scoresTexts(scores)
  return {
    id,
    owner,
    date,
    sku: fields.sku,
    isColored: fields.isColored ? 1 : 0,
    isPublished: fields.isPublished ? 1 : 0,
    etag: etag(view),
    changedAt,
    state: toState(view),
    v3: bodyText('v3', diamond, texts.v3),
    v4: bodyText('v4', diamond, texts.v4),
  }
}

function toState({ stoneRevision, scoresRevision, revision, diamond }: DiamondView): string {
  const { fields, accessRevisions, ...known } = diamond
  const isUnchanged = accessRevisions.access === 0 && accessRevisions.dataAccess === 0
  const kept = { ...known, ...(!isUnchanged && { accessRevisions }), set: withoutDefaults(fields) }
  const state: State = { stoneRevision, scoresRevision, revision, diamond: kept }
  return JSON.stringify(state)
}

export function fromDocument(document: Document): DiamondView {
  const { diamond, ...view } = JSON.parse(String(document['state'])) as State
  const { set, accessRevisions = unchangedAccess, ...known } = diamond
  const scores = scoresIn(String(document['v4']))
  const changedAt = Number(document['changedAt'])
  return { ...view, changedAt, scores, diamond: { ...known, accessRevisions, fields: completed(set) } }
}

const STATE_HEAD = /^\{"stoneRevision":(\d+),"scoresRevision":(-?\d+)/

/**
 * A document with new scores in its texts, for a tenth of what it costs to read its state and to render both bodies.
 * @param brought revision and time (ms) of the event that brought them
 * @param scored gives revision and scores; asked only where they are newer than the document's
 * @returns the same document where they are not, or are of an older stone
 */
export function withScores(
  document: Document,
  brought: { readonly revision: number; readonly at: number },
  scored: () => { readonly revision: number; readonly scores: Scores },
): Document {
  const state = String(document['state'])
  const [head, stoneRevision, knownRevision] = STATE_HEAD.exec(state) ?? []
  if (head === undefined) throw new Error(`the state of diamond ${document['id']} does not begin as it is written`)
  const scoresRevision = brought.revision
  if (scoresRevision <= Number(knownRevision)) return document
  const { revision, scores } = scored()
  if (revision < Number(stoneRevision)) return document
  const texts = scoresTexts(scores)
  const known = String(document['etag'])
  const point = known.indexOf('.')
  return {
    ...document,
    etag: `${known.slice(0, point)}.${Number(known.slice(point + 1, -1)) + scoresRevision - Number(knownRevision)}"`,
    changedAt: brought.at,
    state: `{"stoneRevision":${stoneRevision},"scoresRevision":${scoresRevision}${state.slice(head.length)}`,
    v3: bodyWith(texts.v3, String(document['v3'])),
    v4: bodyWith(texts.v4, String(document['v4'])),
  }
}

function bodyWith(scores: string, body: string): string {
  const { start, end } = placeOfScores(body)
  return body.slice(0, start) + scores + body.slice(end)
}

/** Scores without any value are as good as none. */
function scoresIn(v4: string): Scores | null {
  const { start, end } = placeOfScores(v4)
  const text = v4.slice(start, end)
  return text === scoresTexts(null).v4 ? null : (JSON.parse(text) as Scores)
}

/**
 * Both bodies end with their scores and their links. What stands around the scores can't be found within them, nor in any
 * other text of a body: there, each quote has a backslash.
 */
function placeOfScores(body: string): { readonly start: number; readonly end: number } {
  const end = body.lastIndexOf(',"_links":')
  return { start: body.lastIndexOf(SCORES, end) + SCORES.length, end }
}

const SCORES = '"scores":'
