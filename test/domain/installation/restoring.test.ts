import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  logEpochMember,
  epochOfLastRestore,
  FIRST_EPOCH,
  isSameEpoch,
} from '../../../src/domain/installation/installation.ts'

const test = suite("a log's epoch")

test('is the first until the log was restored, and then what the last restore says', () => {
  assert.is(epochOfLastRestore(undefined), FIRST_EPOCH)
  assert.is(epochOfLastRestore({ type: 'LogRestored', data: { epoch: 7 } }), 7)
})

test('is the first where an event says something else', () => {
  assert.is(epochOfLastRestore({ type: 'SomethingElse', data: { epoch: 7 } }), FIRST_EPOCH)
  for (const epoch of [undefined, 'many', 1.5, 2 ** 53])
    assert.is(epochOfLastRestore({ type: 'LogRestored', data: { epoch } }), FIRST_EPOCH)
})

test('is carried by what is given out after a restore alone', () => {
  assert.equal(logEpochMember(FIRST_EPOCH), {})
  assert.equal(logEpochMember(3), { logEpoch: 3 })
})

test('of what does not tell its own is the first', () => {
  assert.ok(isSameEpoch(undefined, undefined))
  assert.ok(isSameEpoch(undefined, FIRST_EPOCH))
  assert.ok(isSameEpoch(FIRST_EPOCH, undefined))
  assert.ok(isSameEpoch(3, 3))
  assert.not.ok(isSameEpoch(3, 4))
  assert.not.ok(isSameEpoch(3, undefined))
})

test.run()
