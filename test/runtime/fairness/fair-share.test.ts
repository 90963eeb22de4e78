import * as fc from '../../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { FairShare, type FairAllocation } from '../../../src/runtime/fairness/fair-share.ts'

const test = suite('a fair share')

/** Takes single units until it gets no more. @returns the number of units */
function takeAll(share: FairShare, ...names: string[]): number {
  let count = 0
  while (share.openAllocation(names).tryTake(1)) count++
  return count
}

test('is at most half, and always leaves something for the next name', () => {
  const share = new FairShare(33)
  assert.is(takeAll(share, 'ann'), 16)
  assert.is(takeAll(share, 'bob'), 8)
  assert.is(takeAll(share, 'cyd'), 4)
  assert.ok(takeAll(share, 'dan') > 0)
})

test('of an account leaves something for other accounts at its address, and grows little with other addresses', () => {
  const share = new FairShare(100)
  assert.is(takeAll(share, 'address a', 'account 1'), 33)
  assert.is(takeAll(share, 'address a', 'account 2'), 11)
  let elsewhere = 0
  for (let address = 0; address < 50; address++) elsewhere += takeAll(share, `address ${address}`, 'account 1')
  assert.ok(33 + elsewhere <= 50, `${elsewhere} more elsewhere`)
  assert.ok(takeAll(share, 'address b', 'account 3') > 5)
})

test('of one address leaves something for other addresses, however many accounts it has', () => {
  const share = new FairShare(100)
  for (let account = 0; account < 50; account++) takeAll(share, 'address a', `account ${account}`)
  assert.ok(takeAll(share, 'address b', 'account 99') > 15)
})

test('is released once, even if the release is repeated', () => {
  const share = new FairShare(10)
  const allocation = share.openAllocation(['ann'])
  assert.ok(allocation.tryTake(5))
  assert.not.ok(allocation.tryTake(1))
  allocation.release()
  allocation.release()
  assert.is(takeAll(share, 'ann'), 5)
})

test('never exceeds the total for any sequence of takes and releases', () => {
  const step = fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.integer({ min: 1, max: 40 }), fc.boolean())
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const share = new FairShare(100)
      const held: { allocation: FairAllocation; amount: number }[] = []
      for (const [name, amount, back] of steps) {
        if (back) held.shift()?.allocation.release()
        const allocation = share.openAllocation([name])
        if (allocation.tryTake(amount)) held.push({ allocation, amount })
        assert.ok(held.reduce((sum, each) => sum + each.amount, 0) <= 100)
      }
      for (const { allocation } of held) allocation.release()
      assert.ok(share.canTake(['e'], 50))
    }),
  )
})

test.run()
