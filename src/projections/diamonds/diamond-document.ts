import { unchangedAccess, type AccessRevisions } from '../../domain/diamond/access.ts'
import type { LiveDiamond } from '../../domain/diamond/diamond.ts'
import type { ApiVersion } from '../../domain/diamond/field.ts'
import { completed, FILTERED, withoutDefaults, type NewDiamond } from '../../domain/diamond/fields.ts'
import type { Scores } from '../../domain/diamond/scores.ts'
import { joined, linksText, stoneText } from '../../representations/diamond/body.ts'
import { scoresTexts } from '../../representations/diamond/scores.ts'
import type { Document } from '../../stores/ports/read-store.ts'
import { listFields, scoreFields } from './list-fields.ts'
import { news, type Brought, type DiamondView } from './diamond-view.ts'

/**
 * What the read model holds of a diamond: what lists filter and order by; R and S of its ETag; what new scores are
 * measured by; and, as finished texts, the parts of both bodies. The scores stand beside the bodies, so that new ones
 * replace them and nothing else.
 */
export function toDocument(view: DiamondView): Document {
  const { diamond, scores, scoresRevision, stoneRevision, changedAt } = view
  const { id, owner, date } = diamond
  const texts = scoresTexts(scores)
  return {
    id,
    owner,
    date,
    ...filtered(diamond),
    ...listFields(diamond, scores),
    ...revisionsOf(view),
    scoresRevision,
    stoneRevision,
    changedAt,
    state: toState(view),
    v3: stoneText('v3', diamond),
    v4: stoneText('v4', diamond),
    scoresV3: texts.v3,
    scoresV4: texts.v4,
    links: linksText(diamond),
  }
}

export const TEXTS = ['state', 'v3', 'v4', 'scoresV3', 'scoresV4', 'links'] as const

function filtered({ fields }: LiveDiamond): Document {
  const values: Record<string, string | number> = {}
  for (const name of FILTERED) {
    const value = fields[name]
    values[name] = typeof value === 'boolean' ? Number(value) : value
  }
  return values
}

/** R: the revision of the owner's last change, certifications too. S: how often the service found out something since. */
export const revisionsOf = ({ diamond, revision, scoresRevision }: DiamondView) => ({
  ownersRevision: revision - diamond.readingsBehind,
  servicesRevision: scoresRevision + 1 + diamond.warningsBehind,
})

/** `"R.S"` */
export const etagOf = ({ ownersRevision, servicesRevision }: Document): string =>
  `"${ownersRevision}.${servicesRevision}"`

/** What is kept of a view beside the bodies. Fields at their defaults are left out, most of them are. */
type State = Pick<DiamondView, 'revision'> &
  Omit<LiveDiamond, 'status' | 'id' | 'owner' | 'date' | 'fields' | 'accessRevisions'> & {
    readonly set: NewDiamond
    /** Left out where nothing of the access was ever changed, as of most stones. */
    readonly accessRevisions?: AccessRevisions
  }

function toState({ revision, diamond }: DiamondView): string {
  const { status: _status, id: _id, owner: _owner, date: _date, fields, accessRevisions, ...known } = diamond
  const isUnchanged = accessRevisions.access === 0 && accessRevisions.dataAccess === 0
  const set = withoutDefaults(fields)
  const state: State = { revision, ...known, ...(!isUnchanged && { accessRevisions }), set }
  return JSON.stringify(state)
}

/** What `fromDocument` reads. */
export const READ_BACK = [
  ...(['id', 'owner', 'date', 'scoresRevision', 'stoneRevision', 'changedAt'] as const),
  ...(['state', 'scoresV4'] as const),
]

export function fromDocument(document: Document): DiamondView {
  const number = (name: (typeof READ_BACK)[number]) => Number(document[name])
  const { revision, set, accessRevisions = unchangedAccess, ...known } = JSON.parse(String(document['state'])) as State
  const identity = { status: 'live' as const, id: number('id'), owner: number('owner'), date: number('date') }
  return {
    diamond: { ...identity, ...known, accessRevisions, fields: completed(set) },
    revision,
    stoneRevision: number('stoneRevision'),
    scores: scoresIn(String(document['scoresV4'])),
    scoresRevision: number('scoresRevision'),
    changedAt: number('changedAt'),
  }
}

/** Scores without any value are as good as none. */
const scoresIn = (text: string): Scores | null => (text === NO_SCORES.v4 ? null : (JSON.parse(text) as Scores))

const NO_SCORES = scoresTexts(null)

/**
 * A document with the scores that an event brings, for a tenth of what it costs to read its state and to make its bodies.
 * @returns the same document where they are no news
 */
export function withScores(document: Document, brought: Brought): Document {
  const scoresRevision = Number(document['scoresRevision'])
  const scores = news({ scoresRevision, stoneRevision: Number(document['stoneRevision']) }, brought)
  if (scores === undefined) return document
  const texts = scoresTexts(scores)
  return {
    ...document,
    servicesRevision: Number(document['servicesRevision']) + brought.scoresRevision - scoresRevision,
    scoresRevision: brought.scoresRevision,
    changedAt: brought.changedAt,
    ...scoreFields(scores),
    scoresV3: texts.v3,
    scoresV4: texts.v4,
  }
}

const SCORES_OF = { v3: 'scoresV3', v4: 'scoresV4' } as const

/** What `bodyOf` reads for a version. */
export const BODY: Readonly<Record<ApiVersion, readonly string[]>> = {
  v3: ['v3', SCORES_OF.v3, 'links'],
  v4: ['v4', SCORES_OF.v4, 'links'],
}

/** A diamond's body in a version, finished but for the links in it. */
export const bodyOf = (version: ApiVersion, document: Document): string =>
  joined({
    stone: String(document[version]),
    scores: String(document[SCORES_OF[version]]),
    links: String(document['links']),
  })
