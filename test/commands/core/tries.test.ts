import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { tries } from '../../../src/commands/core/tries.ts'
import { OutcomeUnknown, StoreUnavailable, WrongRevision } from '../../../src/stores/ports/event-store.ts'

const test = suite('a command that failed')

const lost = new WrongRevision('s', 'none', 0n)
const unknown = new OutcomeUnknown('silence')

test('is tried again after a lost race, however long it took, until there are no tries left', () => {
  let now = 0
  const isTriedAgain = tries(3, () => (now += 60_000))
  assert.equal([lost, lost, lost].map(isTriedAgain), [true, true, false])
})

test('is tried again after an unknown outcome that came soon, and not after one that took a second', () => {
  let now = 0
  const isTriedAgain = tries(10, () => now)
  const took = (ms: number) => {
    now += ms
    return isTriedAgain(unknown)
  }
  assert.equal([took(10), took(980), took(20)], [true, true, false])
})

test('is not tried again where the store is away, or for any other reason', () => {
  assert.is(tries(5)(new StoreUnavailable('away')), false)
  assert.is(tries(5)(new TypeError('a fault of ours')), false)
})

test.run()
