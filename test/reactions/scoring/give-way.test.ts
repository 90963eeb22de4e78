import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { yieldToRequests } from '../../../src/reactions/scoring/scoring.ts'

const test = suite('giving way')

const stops: (() => void)[] = []
test.after.each(() => {
  for (const stop of stops.splice(0)) stop()
})

/** Keeps the event loop busy, turn by turn, as requests do, until the end of the test or before. */
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

const resting = () => true
const served = () => false

test('goes on at once where nobody is served, however busy the event loop is', async () => {
  const stop = keepBusy()
  assert.is(await yieldToRequests(resting), true)
  stop()
})

test('takes in first what has arrived', async () => {
  let arrived = false
  setImmediate(() => (arrived = true))
  const asked: boolean[] = []
  await yieldToRequests(() => asked.push(arrived) > 0)
  assert.equal(asked, [true])
})

test('goes on where somebody is served and the event loop is free', async () => {
  assert.is(await yieldToRequests(served), true)
})

test('waits while requests keep the event loop busy, and goes on in the end all the same', async () => {
  const stop = keepBusy()
  assert.is(await yieldToRequests(served), false)
  stop()
})

test('goes on when requests rest, whatever else keeps the event loop busy', async () => {
  const stop = keepBusy()
  let looks = 0
  assert.is(await yieldToRequests(() => ++looks > 2), true)
  assert.is(looks, 3)
  stop()
})

test('goes on when they have been answered', async () => {
  const stop = keepBusy()
  let looks = 0
  const servedThrice = () => {
    if (++looks === 3) stop()
    return false
  }
  assert.is(await yieldToRequests(servedThrice), true)
})

test.run()
