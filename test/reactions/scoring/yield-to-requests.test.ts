import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { yieldToRequests } from '../../../src/reactions/scoring/scoring.ts'

const test = suite('yielding to requests')

const stops: (() => void)[] = []
test.after.each(() => {
  for (const stop of stops.splice(0)) stop()
})

/** Keeps the event loop busy turn by turn, as requests do. @returns a function that stops it before the end of the test */
function keepBusy(): () => void {
  let stopped = false
  const turn = () => {
    for (let count = 0; count < 1_000_000; count++);
    if (!stopped) setImmediate(turn)
  }
  turn()
  const stop = () => void (stopped = true)
  stops.push(stop)
  return stop
}

const isIdle = () => true
const isServing = () => false

test('ends at once if no request is in progress, however busy the event loop is', async () => {
  const stop = keepBusy()
  assert.is(await yieldToRequests(isIdle), true)
  stop()
})

test('lets pending callbacks run before it checks for requests', async () => {
  let arrived = false
  setImmediate(() => (arrived = true))
  const observed: boolean[] = []
  await yieldToRequests(() => observed.push(arrived) > 0)
  assert.equal(observed, [true])
})

test('ends at once if a request is in progress and the event loop is free', async () => {
  assert.is(await yieldToRequests(isServing), true)
})

test('ends after a limit if requests keep the event loop busy', async () => {
  const stop = keepBusy()
  assert.is(await yieldToRequests(isServing), false)
  stop()
})

test('ends when no request is in progress, even if other work keeps the event loop busy', async () => {
  const stop = keepBusy()
  let checks = 0
  assert.is(await yieldToRequests(() => ++checks > 2), true)
  assert.is(checks, 3)
  stop()
})

test('ends when the event loop is free again', async () => {
  const stop = keepBusy()
  let checks = 0
  const freeAtThirdCheck = () => {
    if (++checks === 3) stop()
    return false
  }
  assert.is(await yieldToRequests(freeAtThirdCheck), true)
})

test.run()
