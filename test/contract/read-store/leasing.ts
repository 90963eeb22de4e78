import type { Test } from 'uvu'
import * as assert from 'uvu/assert'
import { diamonds, using, type OpenedReadStore } from './model.ts'

export function leasingRules(test: Test, open: () => Promise<OpenedReadStore>): void {
  test(
    'a lease is acquired by one of several concurrent attempts and available again after its release',
    using(open, async ({ store, openAnother }) => {
      const stores = [store, await openAnother(), await openAnother()]
      const attempts = await Promise.all(stores.map((each) => each.acquireLease(diamonds)))
      const [held, ...more] = attempts.filter((lease) => lease !== undefined)
      assert.ok(held !== undefined && more.length === 0)
      for (const each of stores) assert.is(await each.acquireLease(diamonds), undefined)
      await held.release()
      const next = await stores[1]?.acquireLease(diamonds)
      assert.ok(next !== undefined)
      await next?.release()
    }),
  )

  test(
    'a lease belongs to one version of one model',
    using(open, async ({ store, openAnother }) => {
      const otherStore = await openAnother()
      const leases = [
        await store.acquireLease(diamonds),
        await otherStore.acquireLease({ ...diamonds, version: 2 }),
        await otherStore.acquireLease({ ...diamonds, name: 'rubies' }),
      ]
      for (const lease of leases) {
        assert.ok(lease !== undefined)
        await lease?.release()
      }
    }),
  )

  test(
    'any process can find out whether a lease is held',
    using(open, async ({ store, openAnother }) => {
      const otherStore = await openAnother()
      assert.is(await otherStore.isLeaseHeld(diamonds), false)
      const lease = await store.acquireLease(diamonds)
      assert.is(await otherStore.isLeaseHeld(diamonds), true)
      await lease?.release()
      assert.is(await otherStore.isLeaseHeld(diamonds), false)
    }),
  )
}
