import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { yieldToRequests } from '../../../src/reactions/scoring/scoring.ts'
import { withFakeTime } from '../../fake-time.ts'

const test = suite('yielding to requests')

/** When it ends and its result, if the last request ends at this time; in milliseconds from its start. */
async function yieldingUntil(lastRequestEndsAt: number): Promise<unknown> {
  let outcome: unknown
  await withFakeTime(async (time) => {
    const started = time.now()
    const isIdleFor = (milliseconds: number) => time.now() - started - lastRequestEndsAt >= milliseconds
    const yielding = yieldToRequests(isIdleFor).then((isFree) => [time.now() - started, isFree])
    await time.advance(1_000)
    outcome = await yielding
  })
  return outcome
}

test('ends at once 100 ms after the last request', async () => {
  assert.equal(await yieldingUntil(-100), [0, true])
})

test('waits until there was no request for 100 ms', async () => {
  assert.equal(await yieldingUntil(-60), [40, true])
  assert.equal(await yieldingUntil(200), [300, true])
})

test('ends after half a second while there are requests', async () => {
  assert.equal(await yieldingUntil(Infinity), [500, false])
})

test.run()
