import * as fc from '../../../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { cloneAsJson } from '../../../../src/stores/sqlite/events/encoding.ts'

const test = suite('a value cloned as JSON')

test('equals the parsed JSON text, for any value', () => {
  const anything = fc.object({ withDate: true, withNullPrototype: true, withSparseArray: true, maxDepth: 3 })
  fc.assert(
    fc.property(anything, (value) => {
      const text = JSON.stringify(value)
      assert.equal(cloneAsJson(value, text), JSON.parse(text))
    }),
    { numRuns: 500 },
  )
})

test('does not follow later changes of the original', () => {
  const original = { list: [{ carat: 1 }] }
  const copy = cloneAsJson(original, JSON.stringify(original))
  original.list.push({ carat: 2 })
  for (const stone of original.list) stone.carat = 3
  assert.equal(copy, { list: [{ carat: 1 }] })
})

test.run()
