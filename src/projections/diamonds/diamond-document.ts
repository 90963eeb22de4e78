import { initialAccessRevisions, type LiveDiamond } from '../../domain/diamond/diamond.ts'
import { withDefaults, withoutDefaults, type NewDiamond } from '../../domain/diamond/fields.ts'
import type { Document } from '../../stores/ports/read-store.ts'
import type { DiamondView } from './diamond-view.ts'
import { listFields } from './list-attributes.ts'

/** The field that `fromDocument` reads: one line of JSON with the diamond's state, followed by its scores as JSON. */
export const STATE_FIELDS = ['state'] as const

/** The stored form of a diamond: the fields that lists filter and sort by, and its state. */
export function toDocument(view: DiamondView): Document {
  const { diamond, scores } = view
  return {
    ...listFields(diamond, scores),
    state: scores === null ? stateText(view) : `${stateText(view)}\n${scores}`,
  }
}

/** A view without its scores. Members with their usual values are omitted. */
type StoredDiamondState = Pick<LiveDiamond, 'id' | 'owner' | 'date'> & {
  readonly changedAt: number
  /** Fields that differ from their defaults. */
  readonly set: NewDiamond
} & {
  readonly [Name in 'revision' | 'stoneRevision' | 'scoresRevision' | 'certifications' | 'model' | 'accessRevisions']?:
    (DiamondView & LiveDiamond)[Name] | undefined
} & {
  /** serviceEventsSinceOwnerChange and warningsSinceOwnerChange, by the names of documents already stored. */
  readonly [Name in 'readingsBehind' | 'warningsBehind']?: number | undefined
}

function stateText({ diamond, revision, stoneRevision, scoresRevision, changedAt }: DiamondView): string {
  const { id, owner, date, fields, certifications, model, accessRevisions } = diamond
  const state: StoredDiamondState = {
    id,
    owner,
    date,
    changedAt,
    set: withoutDefaults(fields),
    revision: revision || undefined,
    stoneRevision: stoneRevision || undefined,
    scoresRevision: scoresRevision < 0 ? undefined : scoresRevision,
    certifications: certifications.length === 0 ? undefined : certifications,
    model,
    readingsBehind: diamond.serviceEventsSinceOwnerChange || undefined,
    warningsBehind: diamond.warningsSinceOwnerChange || undefined,
    accessRevisions: accessRevisions.access + accessRevisions.dataAccess === 0 ? undefined : accessRevisions,
  }
  return JSON.stringify(state)
}

export function fromDocument(document: Document): DiamondView {
  const text = String(document['state'])
  const end = text.indexOf('\n')
  const {
    id,
    owner,
    date,
    changedAt,
    set,
    revision = 0,
    stoneRevision = 0,
    scoresRevision = -1,
    certifications = [],
    model,
    readingsBehind = 0,
    warningsBehind = 0,
    accessRevisions = initialAccessRevisions,
  } = JSON.parse(end < 0 ? text : text.slice(0, end)) as StoredDiamondState
  return {
    diamond: {
      status: 'live',
      id,
      owner,
      date,
      fields: withDefaults(set),
      certifications,
      ...(model !== undefined && { model }),
      serviceEventsSinceOwnerChange: readingsBehind,
      warningsSinceOwnerChange: warningsBehind,
      accessRevisions,
    },
    revision,
    stoneRevision,
    scores: end < 0 ? null : text.slice(end + 1),
    scoresRevision,
    changedAt,
  }
}
