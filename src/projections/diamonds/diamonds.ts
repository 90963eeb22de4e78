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

/** The fields that lists filter and sort by, each diamond's state, and its change numbers for the change feed. */
export const diamonds = defineReadModel<DiamondRecord>({
  name: 'diamonds',
  // Increment the first number when anything else changes what is stored.
  version: 14 + FIELDS_VERSION,
  streamPrefixes: ['diamond-', 'scores-', RESTORES_STREAM],
  documents,
  relatedStreams: (stream) => [diamondStream(idOfStream(stream)), scoresStream(idOfStream(stream))],
  keyOf: ({ stream }) => (isDiamondStream(stream) ? idOfStream(stream) : undefined),
  createsDocument: ({ type, revision }) => type === 'DiamondCreated' && revision === 0n,
  evolve: evolveRecord,
  toDocument: (record) => recordToDocument(record, EMPTY_DOCUMENT),
  fromDocument: recordFromDocument,
  numbering: {
    accountOfFirstEvent: ({ data }) => parseAccount(data['owner']),
    accountOf: ({ account }) => Number(account),
    placeholderDocument: (id, account, number) => ({
      ...EMPTY_DOCUMENT,
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

const EMPTY_DOCUMENT: Document = Object.fromEntries([
  ...Object.entries(documents.fields).map(([name, type]) => [name, type === 'text' ? '' : 0] as const),
  ...documents.texts.map((name) => [name, ''] as const),
])

/** Called before the event is decoded, and without its schema: the account must not depend on the release. */
const parseAccount = (owner: unknown): number | undefined =>
  typeof owner === 'number' && Number.isSafeInteger(owner) && owner > 0 ? owner : undefined

/** A server shared with other applications may have streams with the same prefix. */
const isDiamondStream = (stream: string) => Number.isSafeInteger(idOfStream(stream))

const idOfStream = (stream: string) => Number(stream.slice(stream.indexOf('-') + 1))
