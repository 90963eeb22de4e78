import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Deadline, settlesWithin, withTimeout } from '../../src/runtime/deadline.ts'
import { withFakeTime } from '../fake-time.ts'

const test = suite('a deadline')

/** Timeout in ms. */
const SHORT = 20

/** Time in ms for which the process is suspended. */
const SUSPENSION = 600

/** Moves the clock ahead of the timers, so that they fire late. */
function suspend(): void {
  const now = performance.now.bind(performance)
  performance.now = () => now() + SUSPENSION
}

/** Collects the outcome of the work once it has settled. */
function outcomesOf(work: Promise<string>): string[] {
  const outcomes: string[] = []
  void work.then(
    (result) => outcomes.push(result),
    (error: Error) => outcomes.push(`rejected: ${error.message}`),
  )
  return outcomes
}

const neverSettles = () => new Promise<never>(() => {})

test('calls back when it has passed, not before', () =>
  withFakeTime(async (time) => {
    const called: true[] = []
    const deadline = new Deadline(() => called.push(true), SHORT)
    await time.advance(SHORT - 1)
    assert.equal(called, [])
    await time.advance(1)
    assert.equal(called, [true])
    deadline.clear()
  }))

test('does not call back once it is cleared', () =>
  withFakeTime(async (time) => {
    const called: true[] = []
    const deadline = new Deadline(() => called.push(true), SHORT)
    deadline.clear()
    await time.advance(10 * SHORT)
    assert.equal(called, [])
  }))

test('accepts a result that arrived while the process was suspended', () =>
  withFakeTime(async (time) => {
    let arrive: (value: string) => void = () => {}
    const outcomes = outcomesOf(withTimeout(SHORT, new Promise<string>((done) => (arrive = done)), () => 'silence'))
    suspend()
    await time.advance(SHORT)
    arrive('answer')
    await time.advance(10 * SUSPENSION)
    assert.equal(outcomes, ['answer'])
  }))

test('passes after a suspension if no result has arrived', () =>
  withFakeTime(async (time) => {
    const outcomes = outcomesOf(withTimeout(SHORT, neverSettles(), () => 'silence'))
    suspend()
    await time.advance(2 * SHORT)
    assert.equal(outcomes, ['silence'])
  }))

test('passes in a process whose timers are always late', () =>
  withFakeTime(async (time) => {
    const called: true[] = []
    const deadline = new Deadline(() => called.push(true), SHORT)
    suspend()
    await time.advance(SHORT)
    assert.equal(called, [])
    suspend()
    await time.advance(SHORT)
    assert.equal(called, [true])
    deadline.clear()
  }))

test('rejects if its callback throws', () =>
  withFakeTime(async (time) => {
    const outcomes = outcomesOf(
      withTimeout(SHORT, neverSettles(), () => {
        throw new Error('silence')
      }),
    )
    await time.advance(SHORT)
    assert.equal(outcomes, ['rejected: silence'])
  }))

test('passes on the rejection of the work', async () => {
  const failed = withTimeout(SHORT, Promise.reject(new Error('mine')), () => 'silence')
  assert.is(await failed.catch((error: Error) => error.message), 'mine')
})

test('for settling is met by work that rejects', async () => {
  assert.is(await settlesWithin(Promise.reject(new Error('failed')), SHORT), true)
})

test('for settling is not met by work that continues', () =>
  withFakeTime(async (time) => {
    const ended = settlesWithin(neverSettles(), SHORT)
    await time.advance(SHORT)
    assert.is(await ended, false)
  }))

test.run()
