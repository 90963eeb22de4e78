import type { Test } from 'uvu'
import * as assert from 'uvu/assert'
import { at, diamond, diamonds, letter, put, using, type OpenedReadStore } from './model.ts'

export function progressRules(test: Test, open: () => Promise<OpenedReadStore>): void {
  test(
    'positions above 2^53 are stored exactly',
    using(open, async ({ store }) => {
      const build = await store.live(diamonds)
      const position = { commit: 2n ** 63n - 1n, prepare: 2n ** 63n - 2n }
      const checkpoint = { position, log: 'log-1', event: null }
      await build.write([], { position: 'start', log: 'log-1', event: null })
      assert.equal(await build.checkpoint(), { position: 'start', log: 'log-1', event: null })
      await build.write([], checkpoint)
      assert.equal(await build.checkpoint(), checkpoint)
      assert.equal(await (await store.model(diamonds)).position(), position)
    }),
  )

  test(
    'the position of a model follows the writes of all processes',
    using(open, async ({ store, openAnother, changesVisible }) => {
      const [model, otherModel] = [await store.model(diamonds), await (await openAnother()).model(diamonds)]
      assert.is(await model.position(), 'start')
      const build = await store.live(diamonds)
      for (const n of [1, 2, 3]) {
        await build.write([put(diamond(n))], at(n))
        assert.equal(await model.position(), at(n).position)
        await changesVisible()
        assert.equal(await otherModel.position(), at(n).position)
      }
    }),
  )

  test(
    'a stream is parked in every process from its first dead letter until it is unparked',
    using(open, async ({ store, openAnother, changesVisible }) => {
      const [model, otherModel] = [await store.model(diamonds), await (await openAnother()).model(diamonds)]
      const build = await store.live(diamonds)
      const [first, second, other] = [letter('diamond-1', 2), letter('diamond-1', 10), letter('diamond-3', 9)]
      await build.write([put(diamond(2))], at(10), [second, other, first])
      assert.equal(await build.deadLetters(), [first, other, second])
      assert.equal([...(await model.parkedStreams())].toSorted(), ['diamond-1', 'diamond-3'])
      await changesVisible()
      assert.equal([...(await otherModel.parkedStreams())].toSorted(), ['diamond-1', 'diamond-3'])
      await build.unpark('diamond-1')
      assert.equal(await build.deadLetters(), [other])
      assert.equal([...(await model.parkedStreams())], ['diamond-3'])
      await changesVisible()
      assert.equal([...(await otherModel.parkedStreams())], ['diamond-3'])
    }),
  )
}
