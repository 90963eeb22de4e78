import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Deadline, settlesWithin, withTimeout } from '../../src/runtime/deadline.ts'
import { withFakeTime } from '../fake-time.ts'

const test = suite('a deadline')

/** Milliseconds */
const SHORT = 20

/** Milliseconds for which this process does nothing, as if it were stopped. */
const STALL = 600

/** From now on the clock is ahead of the timers by that: each that is due comes late. */
function stall(): void {
  const now = performance.now.bind(performance)
  performance.now = () => now() + STALL
}

/** What comes of work, as far as it is known. */
function seen(work: Promise<string>): string[] {
  const outcomes: string[] = []
  void work.then(
    (result) => outcomes.push(result),
    (error: Error) => outcomes.push(`rejected: ${error.message}`),
  )
  return outcomes
}

const nothing = () => new Promise<never>(() => {})

test('calls back when its time is over, and not before', () =>
  withFakeTime(async (time) => {
    const called: true[] = []
    const deadline = new Deadline(() => called.push(true), SHORT)
    await time.pass(SHORT - 1)
    assert.equal(called, [])
    await time.pass(1)
    assert.equal(called, [true])
    deadline.clear()
  }))

test('does not call back once it is cleared', () =>
  withFakeTime(async (time) => {
    const called: true[] = []
    const deadline = new Deadline(() => called.push(true), SHORT)
    deadline.clear()
    await time.pass(10 * SHORT)
    assert.equal(called, [])
  }))

test('takes in what has arrived while the process did not run', () =>
  withFakeTime(async (time) => {
    let arrive: (answer: string) => void = () => {}
    const outcomes = seen(withTimeout(SHORT, new Promise<string>((done) => (arrive = done)), () => 'silence'))
    stall()
    await time.pass(SHORT)
    arrive('answer')
    await time.pass(10 * STALL)
    assert.equal(outcomes, ['answer'])
  }))

test('is over after a stall too, when nothing has arrived', () =>
  withFakeTime(async (time) => {
    const outcomes = seen(withTimeout(SHORT, nothing(), () => 'silence'))
    stall()
    await time.pass(2 * SHORT)
    assert.equal(outcomes, ['silence'])
  }))

test('is over in a process that is late every time', () =>
  withFakeTime(async (time) => {
    const called: true[] = []
    const deadline = new Deadline(() => called.push(true), SHORT)
    stall()
    await time.pass(SHORT)
    assert.equal(called, [])
    stall()
    await time.pass(SHORT)
    assert.equal(called, [true])
    deadline.clear()
  }))

test('can be one that rejects', () =>
  withFakeTime(async (time) => {
    const outcomes = seen(
      withTimeout(SHORT, nothing(), () => {
        throw new Error('silence')
      }),
    )
    await time.pass(SHORT)
    assert.equal(outcomes, ['rejected: silence'])
  }))

test('leaves to work what it rejects with', async () => {
  const failed = withTimeout(SHORT, Promise.reject(new Error('mine')), () => 'silence')
  assert.is(await failed.catch((error: Error) => error.message), 'mine')
})

test('of an end is met by work that ends badly', async () => {
  assert.is(await settlesWithin(Promise.reject(new Error('badly')), SHORT), true)
})

test('of an end is not met by work that goes on', () =>
  withFakeTime(async (time) => {
    const ended = settlesWithin(nothing(), SHORT)
    await time.pass(SHORT)
    assert.is(await ended, false)
  }))

test.run()
