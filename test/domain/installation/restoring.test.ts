import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { carried, epochOf, FIRST_EPOCH, sameEpoch } from '../../../src/domain/installation/installation.ts'

const test = suite("a log's epoch")

test('is the first until the log was restored, and then what the last restore says', () => {
  assert.is(epochOf(undefined), FIRST_EPOCH)
  assert.is(epochOf({ type: 'LogRestored', data: { epoch: 7 } }), 7)
})

test('is the first where an event says something else', () => {
  assert.is(epochOf({ type: 'SomethingElse', data: { epoch: 7 } }), FIRST_EPOCH)
  for (const epoch of [undefined, 'many', 1.5, 2 ** 53])
    assert.is(epochOf({ type: 'LogRestored', data: { epoch } }), FIRST_EPOCH)
})

test('is carried by what is given out after a restore alone', () => {
  assert.equal(carried(FIRST_EPOCH), {})
  assert.equal(carried(3), { logEpoch: 3 })
})

test('of what does not tell its own is the first', () => {
  assert.ok(sameEpoch(undefined, undefined))
  assert.ok(sameEpoch(undefined, FIRST_EPOCH))
  assert.ok(sameEpoch(FIRST_EPOCH, undefined))
  assert.ok(sameEpoch(3, 3))
  assert.not.ok(sameEpoch(3, 4))
  assert.not.ok(sameEpoch(3, undefined))
})

test.run()
