import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  logEpochMember,
  epochOfLastRestore,
  FIRST_EPOCH,
  isSameEpoch,
} from '../../../src/domain/installation/installation.ts'

const test = suite("a log's epoch")

test('is the first until the log is restored, then the one of the last restore', () => {
  assert.is(epochOfLastRestore(undefined), FIRST_EPOCH)
  assert.is(epochOfLastRestore({ type: 'LogRestored', data: { epoch: 7 } }), 7)
})

test('is the first if the event has another type or an invalid epoch', () => {
  assert.is(epochOfLastRestore({ type: 'SomethingElse', data: { epoch: 7 } }), FIRST_EPOCH)
  for (const epoch of [undefined, 'many', 1.5, 2 ** 53])
    assert.is(epochOfLastRestore({ type: 'LogRestored', data: { epoch } }), FIRST_EPOCH)
})

test('is added to issued tokens only after a restore', () => {
  assert.equal(logEpochMember(FIRST_EPOCH), {})
  assert.equal(logEpochMember(3), { logEpoch: 3 })
})

test('defaults to the first if it is missing', () => {
  assert.ok(isSameEpoch(undefined, undefined))
  assert.ok(isSameEpoch(undefined, FIRST_EPOCH))
  assert.ok(isSameEpoch(FIRST_EPOCH, undefined))
  assert.ok(isSameEpoch(3, 3))
  assert.not.ok(isSameEpoch(3, 4))
  assert.not.ok(isSameEpoch(3, undefined))
})

test.run()
