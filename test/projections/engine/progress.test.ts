import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { OwnProgress } from '../../../src/projections/engine/progress.ts'
import type { Position } from '../../../src/stores/ports/event-store.ts'

const test = suite('the progress of a model that this process writes')

const at = (position: number): Position => ({ commit: BigInt(position), prepare: BigInt(position) })

/** Long enough that a test ends, and fails, before it is over. */
const LONG = 60_000

test('answers at once for what was reached, and for who does not want to wait', () => {
  const progress = new OwnProgress()
  progress.advance(at(3))
  assert.is(progress.reached(at(3), LONG), true)
  assert.is(progress.reached(at(4), 0), false)
})

test('wakes those whose position is reached, and nobody else', async () => {
  const progress = new OwnProgress()
  const near = progress.reached(at(1), LONG)
  const far = progress.reached(at(2), LONG)
  progress.advance(at(1))
  assert.is(await near, true)
  const undecided = Symbol('undecided')
  assert.is(await Promise.race([far, Promise.resolve(undecided)]), undecided)
  progress.advance(at(2))
  assert.is(await far, true)
})

test('tells each one when its own time is over, in whatever order they came', async () => {
  const progress = new OwnProgress()
  // Timers hold no process: this one does, until all were told.
  const alive = setInterval(() => undefined, LONG)
  const longest = progress.reached(at(9), LONG)
  for (const ms of [60, 5, 30]) {
    const asked = performance.now()
    assert.is(await progress.reached(at(9), ms), false)
    assert.ok(performance.now() - asked >= ms, `told before its ${ms} ms were over`)
  }
  clearInterval(alive)
  progress.advance(at(9))
  assert.is(await longest, true, 'told by what came, since its time was not over')
})

test('who was woken is not told again when its time is over', async () => {
  const progress = new OwnProgress()
  const woken = progress.reached(at(1), 5)
  const late = progress.reached(at(2), 10)
  progress.advance(at(1))
  const alive = setInterval(() => undefined, LONG)
  assert.is(await late, false)
  clearInterval(alive)
  assert.is(await woken, true)
})

test('pauses until somebody waits, and not at all where somebody does', async () => {
  const progress = new OwnProgress()
  const alive = setInterval(() => undefined, LONG)
  const pause = progress.unlessAwaited(LONG)
  const waiting = progress.reached(at(1), LONG)
  await pause
  await progress.unlessAwaited(LONG)
  progress.advance(at(1))
  assert.is(await waiting, true)
  await progress.unlessAwaited(1)
  const ended = progress.unlessAwaited(LONG)
  progress.wake()
  await ended
  clearInterval(alive)
})

test.run()
