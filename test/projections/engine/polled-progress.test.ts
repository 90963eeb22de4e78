import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { PolledProgress } from '../../../src/projections/engine/progress.ts'
import { StoreUnavailable, type PositionOrStart } from '../../../src/stores/ports/event-store.ts'
import { withFakeTime } from '../../fake-time.ts'

const test = suite('the progress of a model that another process writes')

const at = (position: number): PositionOrStart => ({ commit: BigInt(position), prepare: BigInt(position) })
const LONG = 60_000

test('is the current position of the model', async () => {
  let position = at(1)
  const progress = new PolledProgress({ position: async () => position })
  assert.is(await progress.waitForPosition(at(1), 0), true)
  assert.is(await progress.waitForPosition(at(2), 0), false)
  position = at(2)
  assert.is(await progress.waitForPosition(at(2), 0), true)
  position = at(1)
  assert.is(await progress.waitForPosition(at(2), 0), false)
})

test('is polled until every awaited position is reached, and no longer', () =>
  withFakeTime(async (time) => {
    let polls = 0
    const progress = new PolledProgress({ position: async () => at(polls++) })
    const waits = Promise.all([progress.waitForPosition(at(4), LONG), progress.waitForPosition(at(6), LONG)])
    await time.advance(1_000)
    assert.equal(await waits, [true, true])
    const seen = polls
    await time.advance(LONG)
    assert.is(polls, seen)
  }))

const FAULTS: readonly (readonly [string, () => Promise<PositionOrStart>])[] = [
  ['is unavailable', () => Promise.reject(new StoreUnavailable('away'))],
  ['hangs', () => new Promise(() => undefined)],
]
for (const [name, fault] of FAULTS) {
  test(`is reported as behind within the wait limit, at most 400 ms for no wait, while its store ${name}`, () =>
    withFakeTime(async (time) => {
      const progress = new PolledProgress({ position: fault })
      for (const [waitMs, limit] of [
        [0, 400],
        [500, 500],
      ] as const) {
        const outcomes: boolean[] = []
        void progress.waitForPosition(at(1), waitMs).then((reached) => outcomes.push(reached))
        await time.advance(limit)
        assert.equal(outcomes, [false])
      }
    }))

  test(`is polled again after its store, which ${name}, recovers`, () =>
    withFakeTime(async (time) => {
      let polls = 0
      const progress = new PolledProgress({ position: () => (polls++ < 2 ? fault() : Promise.resolve(at(1))) })
      const reached = progress.waitForPosition(at(1), LONG)
      await time.advance(1_000)
      assert.is(await reached, true)
    }))
}

test.run()
