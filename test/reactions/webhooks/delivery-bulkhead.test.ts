import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { DeliveryBulkhead } from '../../../src/reactions/webhooks/delivery-worker.ts'

const test = suite('the delivery bulkhead')

/** Whether the slot has been acquired by now. */
async function isAcquired(acquiring: Promise<unknown>): Promise<boolean> {
  const later = new Promise<false>((done) => setImmediate(() => done(false)))
  return Promise.race([acquiring.then(() => true), later])
}

test('has separate slots for failing and for responding receivers', async () => {
  const bulkhead = new DeliveryBulkhead({ healthy: 1, failing: 1 })
  await bulkhead.acquire(1, true)
  assert.is(await isAcquired(bulkhead.acquire(2, true)), false)
  const release = await bulkhead.acquire(3, false)
  const next = bulkhead.acquire(4, false)
  assert.is(await isAcquired(next), false)
  release()
  assert.is(await isAcquired(next), true)
})

test('gives the next slot to the account with the fewest slots', async () => {
  const bulkhead = new DeliveryBulkhead({ healthy: 2, failing: 1 })
  const first = await bulkhead.acquire(1, false)
  await bulkhead.acquire(1, false)
  const third = bulkhead.acquire(1, false)
  const other = bulkhead.acquire(2, false)
  first()
  assert.is(await isAcquired(other), true)
  assert.is(await isAcquired(third), false)
})

test.run()
