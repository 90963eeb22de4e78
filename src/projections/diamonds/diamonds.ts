import { FIELDS_VERSION } from '../../domain/diamond/fields.ts'
import { diamondStream, scoresStream } from '../../domain/diamond/diamond.ts'
import { RESTORES_STREAM } from '../../domain/installation/installation.ts'
import type { Document } from '../../stores/ports/read-store.ts'
import { readModel, type ReadModelDeclaration } from '../engine/read-model.ts'
import { STATE } from './diamond-document.ts'
import { COUNTED, INDEXES, LIST_FIELDS } from './list-members.ts'
import {
  CHANGE_NUMBERS,
  follow,
  followedDocument,
  followedIn,
  NOBODY,
  renumbered,
  type FollowedDiamond,
} from './followed-diamond.ts'

const documents: ReadModelDeclaration<unknown>['documents'] = {
  fields: {
    ...LIST_FIELDS,
    account: 'integer',
    ...Object.fromEntries(CHANGE_NUMBERS.map((name) => [name, 'integer'] as const)),
  },
  texts: STATE,
  indexes: [...INDEXES, ['account', 'changed']],
  counts: COUNTED,
}

/** What lists filter and order by, the state of each diamond, and the numbers of its changes, by which the feed finds them. */
export const diamonds = readModel<FollowedDiamond>({
  name: 'diamonds',
  // The first number is raised with whatever else changes what is stored.
  version: 13 + FIELDS_VERSION,
  follows: ['diamond-', 'scores-', RESTORES_STREAM],
  documents,
  together: (stream) => [diamondStream(idIn(stream)), scoresStream(idIn(stream))],
  keyOf: ({ stream }) => (isDiamonds(stream) ? idIn(stream) : undefined),
  begins: ({ type, revision }) => type === 'DiamondCreated' && revision === 0n,
  evolve: follow,
  toDocument: (followed) => followedDocument(followed, EMPTY),
  fromDocument: followedIn,
  numbering: {
    beginsFor: ({ data }) => accountIn(data['owner']),
    accountOf: ({ account }) => Number(account),
    unshown: (id, account, number) => ({ ...EMPTY, id, owner: NOBODY, account, created: number, changed: number }),
    renumbered,
    numbers: CHANGE_NUMBERS,
  },
})

/** A document with nothing in it. */
const EMPTY: Document = Object.fromEntries([
  ...Object.entries(documents.fields).map(([name, kind]) => [name, kind === 'text' ? '' : 0] as const),
  ...documents.texts.map((name) => [name, ''] as const),
])

/** Read before anything else of the event is, and without its schema: whose it is must not depend on a release. */
const accountIn = (owner: unknown): number | undefined =>
  typeof owner === 'number' && Number.isSafeInteger(owner) && owner > 0 ? owner : undefined

/** On a server that others write to as well, a prefix alone is no sign of ours. */
const isDiamonds = (stream: string) => Number.isSafeInteger(idIn(stream))

/** `diamond-337` and `scores-337` → 337 */
const idIn = (stream: string) => Number(stream.slice(stream.indexOf('-') + 1))
