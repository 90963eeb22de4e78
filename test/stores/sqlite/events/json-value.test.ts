import { randomUUID } from 'node:crypto'
import * as fc from '../../../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { encodeAppends } from '../../../../src/stores/sqlite/events/encoding.ts'
import { decodeRows, rowsOf } from '../../../../src/stores/sqlite/events/rows.ts'
import { metadata } from '../../../contract/event-store/given.ts'

const test = suite('the data of an event that was just written')

/** Encodes an event; the result decodes it as subscriptions get it. */
function written(data: Record<string, unknown>): () => unknown {
  const event = { id: randomUUID(), type: 'Counted', data, metadata }
  const [append] = encodeAppends([{ stream: 'rule-1', expected: 'none', events: [event] }])
  assert.ok(append)
  return () => decodeRows(rowsOf(append, 0))[0]?.data
}

test('equals the parsed JSON text, for any value', () => {
  const anything = fc.object({ withDate: true, withNullPrototype: true, withSparseArray: true, maxDepth: 3 })
  fc.assert(
    fc.property(anything, (value) => {
      assert.equal(written(value)(), JSON.parse(JSON.stringify(value)))
    }),
    { numRuns: 500 },
  )
})

test('does not follow later changes of the original', () => {
  const original = { list: [{ carat: 1 }] }
  const copy = written(original)
  original.list.push({ carat: 2 })
  for (const stone of original.list) stone.carat = 3
  assert.equal(copy(), { list: [{ carat: 1 }] })
})

test.run()
