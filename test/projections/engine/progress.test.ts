import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { LocalProgress } from '../../../src/projections/engine/progress.ts'
import type { Position } from '../../../src/stores/ports/event-store.ts'
import { withFakeTime } from '../../fake-time.ts'

const test = suite('the progress of a model that this process writes')

const at = (position: number): Position => ({ commit: BigInt(position), prepare: BigInt(position) })

/** Long enough that a test ends, and fails, before it is over. */
const LONG = 60_000

test('answers at once for what was reached, and for who does not want to wait', () => {
  const progress = new LocalProgress()
  progress.advance(at(3))
  assert.is(progress.waitForPosition(at(3), LONG), true)
  assert.is(progress.waitForPosition(at(4), 0), false)
})

test('wakes those whose position is reached, and nobody else', async () => {
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

test('tells each one when its own time is over, in whatever order they came', () =>
  withFakeTime(async (time) => {
    const progress = new LocalProgress()
    const told: string[] = []
    const wait = async (name: string, ms: number) => {
      assert.is(await progress.waitForPosition(at(9), ms), false)
      told.push(name)
    }
    const all = Promise.all([wait('third', 60), wait('first', 5), wait('second', 30)])
    const seen: string[][] = []
    for (const ms of [4, 1, 24, 1, 29, 1]) {
      await time.pass(ms)
      seen.push([...told])
    }
    await all
    const [first, second] = [['first'], ['first', 'second']]
    assert.equal(seen, [[], first, first, second, second, ['first', 'second', 'third']])
    assert.equal(told, ['first', 'second', 'third'])
  }))

test('who was woken is not told again when its time is over', () =>
  withFakeTime(async (time) => {
    const progress = new LocalProgress()
    const woken = progress.waitForPosition(at(1), 5)
    const late = progress.waitForPosition(at(2), 10)
    progress.advance(at(1))
    await time.pass(10)
    assert.is(await late, false)
    assert.is(await woken, true)
  }))

test('pauses until somebody waits, and not at all where somebody does', () =>
  withFakeTime(async (time) => {
    const progress = new LocalProgress()
    const pause = progress.pauseUnlessAwaited(LONG)
    const waiting = progress.waitForPosition(at(1), LONG)
    await pause
    await progress.pauseUnlessAwaited(LONG)
    progress.advance(at(1))
    assert.is(await waiting, true)
    const over = progress.pauseUnlessAwaited(1)
    await time.pass(1)
    await over
    const ended = progress.pauseUnlessAwaited(LONG)
    progress.wake()
    await ended
  }))

test.run()
