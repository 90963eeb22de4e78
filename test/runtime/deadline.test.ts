import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Deadline, endsWithin, within } from '../../src/runtime/deadline.ts'

const test = suite('a deadline')

/** Milliseconds */
const SHORT = 20

/** Milliseconds for which this process does nothing, as if it were stopped. */
const STALL = 600

const stall = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STALL)

/** Resolves in the turn of the loop in which what has arrived is taken in: behind the timers. */
const arrived = () => new Promise<'answer'>((done) => setImmediate(() => setImmediate(done, 'answer')))

test('calls back when its time is over', async () => {
  const started = performance.now()
  await new Promise<void>((over) => new Deadline(over, SHORT))
  // Timers may fire a millisecond early.
  assert.ok(performance.now() - started >= SHORT - 1)
})

test('does not call back once it is cleared', async () => {
  const called: true[] = []
  const deadline = new Deadline(() => called.push(true), SHORT)
  deadline.clear()
  await new Promise<void>((over) => new Deadline(over, 2 * SHORT))
  assert.equal(called, [])
})

test('takes in what has arrived while the process did not run', async () => {
  const answer = within(SHORT, arrived(), () => 'silence')
  stall()
  assert.is(await answer, 'answer')
})

test('is over after a stall too, when nothing has arrived', async () => {
  const answer = within(SHORT, new Promise<never>(() => {}), () => 'silence')
  stall()
  assert.is(await answer, 'silence')
})

test('is over in a process that is late every time', async () => {
  let isOver = false
  const deadline = new Deadline(() => (isOver = true), SHORT)
  for (let turn = 0; turn < 3; turn++) {
    stall()
    await new Promise((done) => setImmediate(done))
  }
  deadline.clear()
  assert.ok(isOver)
})

test('can be one that rejects', async () => {
  const silent = within(SHORT, new Promise<never>(() => {}), () => {
    throw new Error('silence')
  })
  assert.is(await silent.catch((error: Error) => error.message), 'silence')
})

test('leaves to work what it rejects with', async () => {
  const failed = within(SHORT, Promise.reject(new Error('mine')), () => 'silence')
  assert.is(await failed.catch((error: Error) => error.message), 'mine')
})

test('of an end is met by work that ends badly', async () => {
  assert.is(await endsWithin(Promise.reject(new Error('badly')), SHORT), true)
  assert.is(await endsWithin(new Promise(() => {}), SHORT), false)
})

test.run()
