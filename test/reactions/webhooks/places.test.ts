import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { DeliveryBulkhead } from '../../../src/reactions/webhooks/delivery-worker.ts'

const test = suite('the delivery bulkhead')

/** Whether the slot has been acquired by now. */
async function isIn(entering: Promise<unknown>): Promise<boolean> {
  const later = new Promise<false>((done) => setImmediate(() => done(false)))
  return Promise.race([entering.then(() => true), later])
}

test('has separate slots for failing and for responding receivers', async () => {
  const places = new DeliveryBulkhead({ taking: 1, failing: 1 })
  await places.acquire(1, true)
  assert.is(await isIn(places.acquire(2, true)), false)
  const leave = await places.acquire(3, false)
  const next = places.acquire(4, false)
  assert.is(await isIn(next), false)
  leave()
  assert.is(await isIn(next), true)
})

test('gives the next slot to the account with the fewest slots', async () => {
  const places = new DeliveryBulkhead({ taking: 2, failing: 1 })
  const first = await places.acquire(1, false)
  await places.acquire(1, false)
  const third = places.acquire(1, false)
  const other = places.acquire(2, false)
  first()
  assert.is(await isIn(other), true)
  assert.is(await isIn(third), false)
})

test.run()
