import type { DiamondCreated } from '../../domain/diamond/diamond.ts'
import type { ApiVersion } from '../../domain/diamond/field.ts'
import { FIELDS, FIELDS_VERSION, FILTERED } from '../../domain/diamond/fields.ts'
import { diamondStream, scoresStream } from '../../domain/diamond/streams.ts'
import { bodyText } from '../../representations/diamond/body.ts'
import { readModel } from '../engine/read-model.ts'
import { etagOf, fromDocument, revisionsOf, TEXTS, toDocument, withScores } from './diamond-document.ts'
import { applyEvent, broughtBy, folded, isOfScores, type DiamondView } from './diamond-view.ts'

/** The filters that are yes or no: their diamonds are counted, by every combination. */
const FLAGS = FILTERED.filter((name) => FIELDS[name].kind === 'flag')

const subsets = <Item>(items: readonly Item[]): Item[][] =>
  items.reduce<Item[][]>((sets, item) => [...sets, ...sets.map((set) => [...set, item])], [[]])

const NEWEST = ['date', 'id'] as const

/** What lists filter and order by, and the parts of both bodies. */
export const diamonds = readModel<DiamondView>({
  name: 'diamonds',
  // The first number is raised with whatever else changes what is stored.
  version: 6 + FIELDS_VERSION,
  follows: ['diamond-', 'scores-'],
  documents: {
    fields: {
      id: 'integer',
      owner: 'integer',
      date: 'integer',
      ...Object.fromEntries(FILTERED.map((name) => [name, FIELDS[name].kind === 'flag' ? 'integer' : 'text'] as const)),
      ownersRevision: 'integer',
      servicesRevision: 'integer',
      scoresRevision: 'integer',
      stoneRevision: 'integer',
      changedAt: 'integer',
    },
    texts: TEXTS,
    indexes: [
      ...subsets(FLAGS).map((flags) => ['owner', ...flags, ...NEWEST]),
      ...FILTERED.filter((name) => FIELDS[name].kind !== 'flag').map((name) => ['owner', name, ...NEWEST]),
    ],
    counts: ['owner', ...FLAGS],
  },
  together: (stream) => [diamondStream(idIn(stream)), scoresStream(idIn(stream))],
  keyOf: ({ stream }) => (isDiamonds(stream) ? idIn(stream) : undefined),
  begins: ({ type, revision }) => type === 'DiamondCreated' && revision === 0n,
  apply: applyEvent,
  toDocument,
  stateTexts: TEXTS,
  fromDocument,
  amend: (document, event) => (isOfScores(event) ? withScores(document, broughtBy(event)) : undefined),
})

/** On a server that others write to as well, a prefix alone is no sign of ours. */
const isDiamonds = (stream: string) => Number.isSafeInteger(idIn(stream))

/** `diamond-337` and `scores-337` → 337 */
const idIn = (stream: string) => Number(stream.slice(stream.indexOf('-') + 1))

/** A diamond as its creation answers it, before anything else happened to it. */
export function renderBorn(
  version: ApiVersion,
  born: DiamondCreated,
): { readonly etag: string; readonly body: string } {
  const view = folded(undefined, born, { revision: 0, changedAt: born.data.date * 1000 })
  if (view === undefined) throw new Error('a created diamond is live')
  return { etag: etagOf(revisionsOf(view)), body: bodyText(version, view.diamond, view.scores) }
}
