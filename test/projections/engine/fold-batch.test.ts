import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { foldBatch, type FoldSource } from '../../../src/projections/engine/fold-batch.ts'
import type { Projection } from '../../../src/projections/engine/read-model.ts'
import type { StoredEvent } from '../../../src/stores/ports/event-store.ts'
import { ConcurrencyConflict, type ReadModelBuild } from '../../../src/stores/ports/read-store.ts'

const test = suite('a batch of events')

/** The type of the stream's last event; an `Ended` event removes the document. */
const last: Projection<string> = {
  declaration: { name: 'last', version: 1, fields: { id: 'text' }, texts: ['value'], indexes: [], counts: [] },
  streamPrefixes: ['a-'],
  keyOf: ({ stream }) => stream,
  createsDocument: ({ revision }) => revision === 0n,
  evolve: (_value, { type }) => (type === 'Ended' ? undefined : type),
  toDocument: (value) => ({ id: 'a-1', value }),
  fromDocument: ({ value }) => String(value),
}

const events = (...types: string[]): StoredEvent[] =>
  types.map((type, index) => {
    const position = { commit: BigInt(index + 10), prepare: BigInt(index + 10) }
    return { id: `e-${index}`, stream: 'a-1', type, data: {}, metadata: {}, revision: BigInt(index), position }
  })

const buildWith = (load: ReadModelBuild['load']): FoldSource => ({ load, sequences: { load: async () => [] } })

const folded = (...types: string[]) =>
  foldBatch(
    last,
    buildWith(async () => []),
    events(...types),
    new Set(),
  )

test('writes the final state of each stream once, at the position of the last event', async () => {
  assert.equal((await folded('One', 'Two')).writes, [{ put: { id: 'a-1', value: 'Two' }, revision: 11n }])
})

test('removes a document that it creates and ends, because an interrupted runner may still have written it', async () => {
  assert.equal((await folded('One', 'Ended')).writes, [{ remove: 'a-1', revision: 11n }])
})

test('writes nothing for a stream that ends without a document', async () => {
  assert.equal((await folded('Ended')).writes, [])
})

/** Each event's type must start with the previous value. */
const picky: Projection<string> = {
  ...last,
  evolve(value, { type }) {
    if (!type.startsWith(value ?? '')) throw new Error(`${type} does not start with ${value}`)
    return type
  },
}
const stored = (value: string, revision: bigint) => ({ document: { id: 'a-1', value }, revision })
const later = events('AB').map((event) => ({ ...event, revision: 5n }))

test('parks a stream that cannot be folded', async () => {
  const build = buildWith(async () => [stored('X', 3n)])
  assert.is((await foldBatch(picky, build, later, new Set())).deadLetters.length, 1)
})

test('parks no stream because the store returned an outdated document', async () => {
  const build = buildWith(async (_keys, least) => [least === undefined ? stored('X', 3n) : stored('A', 4n)])
  const error = await foldBatch(picky, build, later, new Set()).catch((thrown: unknown) => thrown)
  assert.instance(error, ConcurrencyConflict)
})

test.run()
