import type { Test } from 'uvu'
import * as assert from 'uvu/assert'
import { at, diamond, diamonds, idsIn, put, using, type OpenedReadStore } from './model.ts'

export function buildRules(test: Test, open: () => Promise<OpenedReadStore>): void {
  test(
    'a new build is invisible until it is promoted, which makes it the live build in one step',
    using(open, async ({ store, openAnother, changesVisible }) => {
      const otherStore = await openAnother()
      const model = await store.model(diamonds)
      await (await store.live(diamonds)).write([put(diamond(1))], at(1))
      const next = await store.begin(diamonds)
      await next.write([put(diamond(2)), put(diamond(3))], at(2))
      assert.equal(await idsIn(store), [1])
      assert.equal(await model.position(), at(1).position)
      await store.promote(diamonds, next)
      assert.equal(await idsIn(store), [2, 3])
      assert.equal(await model.position(), at(2).position)
      assert.is(await model.count({ owner: 1 }), 2)
      await changesVisible()
      assert.equal(await idsIn(otherStore), [2, 3])
      assert.is((await otherStore.live(diamonds)).id, next.id)
      assert.ok(await otherStore.isLive(diamonds, next))
    }),
  )

  test(
    'a reader in another process reads one build or the other throughout promotions',
    using(open, async ({ store, openAnother, changesVisible }) => {
      const otherStore = await openAnother()
      await (await store.live(diamonds)).write([put(diamond(1))], at(1))
      for (let round = 2; round < 12; round++) {
        const next = await store.begin(diamonds)
        await next.write([put(diamond(round))], at(round))
        assert.equal(await idsIn(otherStore), [round - 1])
        await store.promote(diamonds, next)
        await changesVisible()
        assert.equal(await idsIn(otherStore), [round])
      }
    }),
  )

  test(
    'a pending build is recorded, can be resumed by another process, and is live after its promotion',
    using(open, async ({ store, openAnother, changesVisible }) => {
      const before = await store.live(diamonds)
      await before.write([put(diamond(1))], at(1))
      assert.is(await store.pendingBuild(diamonds), undefined)
      const filling = await store.beginPendingBuild(diamonds)
      await filling.write([put(diamond(2))], at(2))
      const otherStore = await openAnother()
      await changesVisible()
      const found = await otherStore.pendingBuild(diamonds)
      assert.equal(found, { id: filling.id, isCaughtUp: false })
      const resumed = await otherStore.openPendingBuild(diamonds, found ?? { id: '', isCaughtUp: false })
      assert.equal(await resumed.checkpoint(), at(2))
      await resumed.write([put(diamond(3))], at(3))
      await otherStore.markCaughtUp(diamonds, resumed)
      await changesVisible()
      assert.equal(await store.pendingBuild(diamonds), { id: filling.id, isCaughtUp: true })
      assert.equal(await idsIn(store), [1])
      await store.promote(diamonds, filling)
      await changesVisible()
      assert.equal(await idsIn(otherStore), [2, 3])
      assert.not.ok(await otherStore.isLive(diamonds, before))
      assert.is(await store.pendingBuild(diamonds), undefined)
      assert.is(await otherStore.pendingBuild(diamonds), undefined)
    }),
  )

  test(
    'a new pending build replaces the previous one, and a dropped build is not pending',
    using(open, async ({ store, openAnother, changesVisible }) => {
      await store.live(diamonds)
      const first = await store.beginPendingBuild(diamonds)
      const second = await store.beginPendingBuild(diamonds)
      assert.is.not(second.id, first.id)
      await store.markCaughtUp(diamonds, first)
      assert.equal(await store.pendingBuild(diamonds), { id: second.id, isCaughtUp: false })
      assert.is(await store.pendingBuild({ ...diamonds, version: 2 }), undefined)
      await store.drop(diamonds, second)
      const otherStore = await openAnother()
      await changesVisible()
      assert.is(await otherStore.pendingBuild(diamonds), undefined)
    }),
  )

  test(
    'each version of a model has its own live build',
    using(open, async ({ store }) => {
      const second = { ...diamonds, version: 2, texts: ['v5'] }
      await (await store.live(diamonds)).write([put(diamond(1))], at(1))
      const { state: _s, v3: _3, v4: _4, ...fields } = diamond(2)
      await (await store.live(second)).write([put({ ...fields, v5: 'fifth' })], at(2))
      assert.equal(await idsIn(store), [1])
      assert.equal(await (await store.model(second)).get(2, ['v5']), { v5: 'fifth' })
      assert.is(await (await store.model(second)).get(1, ['v5']), undefined)
      assert.equal(await (await store.model(diamonds)).position(), at(1).position)
    }),
  )

  test(
    'two processes that start concurrently write to the same live build',
    using(open, async ({ store, openAnother, changesVisible }) => {
      const otherStore = await openAnother()
      const [model, otherModel] = await Promise.all([store.live(diamonds), otherStore.live(diamonds)])
      assert.is(model.id, otherModel.id)
      await model.write([put(diamond(1))], at(1))
      await otherModel.write([put(diamond(2))], at(2))
      await changesVisible()
      assert.equal(await idsIn(store), [1, 2])
      assert.equal(await model.checkpoint(), at(2))
    }),
  )

  test(
    'a new build can be dropped, but not the live one',
    using(open, async ({ store }) => {
      const live = await store.live(diamonds)
      await live.write([put(diamond(1))], at(1))
      await store.drop(diamonds, await store.begin(diamonds))
      const outcome = await store.drop(diamonds, live).catch((error: unknown) => error)
      assert.instance(outcome, Error)
      assert.equal(await idsIn(store), [1])
    }),
  )

  test(
    'documents and checkpoint persist after the store is closed and opened again',
    using(open, async ({ store, openAnother }) => {
      await (await store.live(diamonds)).write([put(diamond(1), 4n)], at(1))
      await store.close()
      const reopened = await openAnother()
      assert.equal(await idsIn(reopened), [1])
      assert.equal(await (await reopened.live(diamonds)).load([1]), [{ document: diamond(1), revision: 4n }])
      assert.equal(await (await reopened.live(diamonds)).checkpoint(), at(1))
    }),
  )
}
