import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { LocalProgress } from '../../../src/projections/engine/progress.ts'
import type { Position } from '../../../src/stores/ports/event-store.ts'
import { withFakeTime } from '../../fake-time.ts'

const test = suite('the progress of a model that this process writes')

const at = (position: number): Position => ({ commit: BigInt(position), prepare: BigInt(position) })

/** Longer than any wait in these tests. */
const LONG = 60_000

test('returns at once if the position is reached or the wait limit is 0', async () => {
  const progress = new LocalProgress()
  progress.advance(at(3))
  assert.is(await progress.waitForPosition(at(3), LONG), true)
  assert.is(await progress.waitForPosition(at(4), 0), false)
})

test('wakes only the waits whose position is reached', async () => {
  const progress = new LocalProgress()
  const near = progress.waitForPosition(at(1), LONG)
  const far = progress.waitForPosition(at(2), LONG)
  progress.advance(at(1))
  assert.is(await near, true)
  const undecided = Symbol('undecided')
  assert.is(await Promise.race([far, Promise.resolve(undecided)]), undecided)
  progress.advance(at(2))
  assert.is(await far, true)
})

test('ends each wait at its own limit, in whatever order they started', () =>
  withFakeTime(async (time) => {
    const progress = new LocalProgress()
    const ended: string[] = []
    const wait = async (name: string, ms: number) => {
      assert.is(await progress.waitForPosition(at(9), ms), false)
      ended.push(name)
    }
    const all = Promise.all([wait('third', 60), wait('first', 5), wait('second', 30)])
    const seen: string[][] = []
    for (const ms of [4, 1, 24, 1, 29, 1]) {
      await time.advance(ms)
      seen.push([...ended])
    }
    await all
    const [first, second] = [['first'], ['first', 'second']]
    assert.equal(seen, [[], first, first, second, second, ['first', 'second', 'third']])
    assert.equal(ended, ['first', 'second', 'third'])
  }))

test('ends a wait once: its limit has no effect after it was woken', () =>
  withFakeTime(async (time) => {
    const progress = new LocalProgress()
    const woken = progress.waitForPosition(at(1), 5)
    const late = progress.waitForPosition(at(2), 10)
    progress.advance(at(1))
    await time.advance(10)
    assert.is(await late, false)
    assert.is(await woken, true)
  }))

test('pauses until a request waits, and not at all while one waits', () =>
  withFakeTime(async (time) => {
    const progress = new LocalProgress()
    const pause = progress.pauseUnlessAwaited(LONG)
    const waiting = progress.waitForPosition(at(1), LONG)
    await pause
    await progress.pauseUnlessAwaited(LONG)
    progress.advance(at(1))
    assert.is(await waiting, true)
    const over = progress.pauseUnlessAwaited(1)
    await time.advance(1)
    await over
    const ended = progress.pauseUnlessAwaited(LONG)
    progress.wake()
    await ended
  }))

test.run()
