import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { FollowedProgress } from '../../../src/projections/engine/followed-progress.ts'
import { StoreUnavailable, type From } from '../../../src/stores/ports/event-store.ts'

const test = suite('the progress of a model that another process writes')

const at = (position: number): From => ({ commit: BigInt(position), prepare: BigInt(position) })
const LONG = 60_000

test('is what the model says at that moment', async () => {
  let position = at(1)
  const progress = new FollowedProgress({ position: async () => position })
  assert.is(await progress.reached(at(1), 0), true)
  assert.is(await progress.reached(at(2), 0), false)
  position = at(2)
  assert.is(await progress.reached(at(2), 0), true)
  position = at(1)
  assert.is(await progress.reached(at(2), 0), false)
})

test('is looked at until what somebody waits for is reached, and no longer', async () => {
  let looks = 0
  const progress = new FollowedProgress({ position: async () => at(looks++) })
  assert.equal(await Promise.all([progress.reached(at(4), LONG), progress.reached(at(6), LONG)]), [true, true])
  const seen = looks
  await new Promise((done) => setTimeout(done, 40))
  assert.ok(looks <= seen + 1)
})

const FAULTS: readonly (readonly [string, () => Promise<From>])[] = [
  ['is away', () => Promise.reject(new StoreUnavailable('away'))],
  ['hangs', () => new Promise(() => undefined)],
]
for (const [name, fault] of FAULTS) {
  test(`is behind while its store ${name}, and is told in time`, async () => {
    const progress = new FollowedProgress({ position: fault })
    const alive = setInterval(() => undefined, LONG)
    assert.is(await progress.reached(at(1), 0), false)
    assert.is(await progress.reached(at(1), 500), false)
    clearInterval(alive)
  })

  test(`is followed again when its store, which ${name}, is back`, async () => {
    let looks = 0
    const progress = new FollowedProgress({ position: () => (looks++ < 2 ? fault() : Promise.resolve(at(1))) })
    assert.is(await progress.reached(at(1), LONG), true)
  })
}

test.run()
