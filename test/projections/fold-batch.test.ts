import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { foldBatch } from '../../src/projections/fold-batch.ts'
import type { Projection } from '../../src/projections/projection.ts'
import type { StoredEvent } from '../../src/stores/event-store.ts'

const test = suite('a batch of events')

/** What stands in the stream's last event, until there is an end. */
const last: Projection<string> = {
  declaration: { name: 'last', version: 1, fields: { id: 'text' }, texts: ['value'], indexes: [], counts: [] },
  prefixes: ['a-'],
  stateTexts: ['value'],
  keyOf: ({ stream }) => stream,
  begins: ({ revision }) => revision === 0n,
  apply: (_value, { type }) => (type === 'Ended' ? undefined : type),
  toDocument: (value) => ({ id: 'a-1', value }),
  fromDocument: ({ value }) => String(value),
}

const events = (...types: string[]): StoredEvent[] =>
  types.map((type, index) => {
    const position = { commit: BigInt(index + 10), prepare: BigInt(index + 10) }
    return { id: `e-${index}`, stream: 'a-1', type, data: {}, metadata: {}, revision: BigInt(index), position }
  })

const folded = (...types: string[]) => foldBatch(last, { load: async () => [] }, events(...types), new Set())

test('writes what its streams come to, once, at the position of the last event', async () => {
  assert.equal((await folded('One', 'Two')).writes, [{ put: { id: 'a-1', value: 'Two' }, revision: 11n }])
})

test('removes what came and went within it, which a runner that was stopped may still put in', async () => {
  assert.equal((await folded('One', 'Ended')).writes, [{ remove: 'a-1', revision: 11n }])
})

test('writes nothing of what never was', async () => {
  assert.equal((await folded('Ended')).writes, [])
})

test.run()
