import { FIELDS_VERSION } from '../../domain/diamond/fields.ts'
import { diamondStream, scoresStream } from '../../domain/diamond/diamond.ts'
import { RESTORES_STREAM } from '../../domain/installation/installation.ts'
import type { Document } from '../../stores/ports/read-store.ts'
import { defineReadModel, type ReadModelDefinition } from '../engine/read-model.ts'
import { STATE_FIELDS } from './diamond-document.ts'
import { COUNTED_FIELDS, INDEXES, LIST_FIELDS } from './list-attributes.ts'
import {
  CHANGE_NUMBERS,
  evolveRecord,
  recordToDocument,
  recordFromDocument,
  NO_OWNER,
  renumberDocument,
  type DiamondRecord,
} from './diamond-record.ts'

const documents: ReadModelDefinition<unknown>['documents'] = {
  fields: {
    ...LIST_FIELDS,
    account: 'integer',
    ...Object.fromEntries(CHANGE_NUMBERS.map((name) => [name, 'integer'] as const)),
  },
  texts: STATE_FIELDS,
  indexes: [...INDEXES, ['account', 'changed']],
  counts: COUNTED_FIELDS,
}

/** What lists filter and order by, the state of each diamond, and the numbers of its changes, by which the feed finds them. */
export const diamonds = defineReadModel<DiamondRecord>({
  name: 'diamonds',
  // The first number is raised with whatever else changes what is stored.
  version: 13 + FIELDS_VERSION,
  streamPrefixes: ['diamond-', 'scores-', RESTORES_STREAM],
  documents,
  relatedStreams: (stream) => [diamondStream(idIn(stream)), scoresStream(idIn(stream))],
  keyOf: ({ stream }) => (isDiamondStream(stream) ? idIn(stream) : undefined),
  createsDocument: ({ type, revision }) => type === 'DiamondCreated' && revision === 0n,
  evolve: evolveRecord,
  toDocument: (followed) => recordToDocument(followed, EMPTY),
  fromDocument: recordFromDocument,
  numbering: {
    accountOfFirstEvent: ({ data }) => accountIn(data['owner']),
    accountOf: ({ account }) => Number(account),
    placeholderDocument: (id, account, number) => ({
      ...EMPTY,
      id,
      owner: NO_OWNER,
      account,
      created: number,
      changed: number,
    }),
    renumberDocument,
    numberFields: CHANGE_NUMBERS,
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
const isDiamondStream = (stream: string) => Number.isSafeInteger(idIn(stream))

/** `diamond-337` and `scores-337` → 337 */
const idIn = (stream: string) => Number(stream.slice(stream.indexOf('-') + 1))
