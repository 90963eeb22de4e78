import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { OutcomeUnknown, StoreUnavailable } from '../../../src/stores/ports/event-store.ts'
import { UnansweredAppends } from '../../../src/stores/log/unanswered-appends.ts'
import { pause } from '../../until.ts'

const test = suite('appends to a log that only reads')

const lostAfter = (ms: number) => async () => {
  await pause(ms)
  throw new OutcomeUnknown('no answer')
}

async function failsBy(kind: new (...given: never[]) => Error, work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    return assert.instance(error, kind)
  }
  assert.unreachable('it did not fail')
}

test('are refused at once behind one that had no answer for a second, but for one at a time that tries', async () => {
  const appends = new UnansweredAppends('EventStoreDB')
  await failsBy(OutcomeUnknown, appends.pass(lostAfter(1_050)))
  // Who waited for that one in a queue has not waited twice.
  await failsBy(
    StoreUnavailable,
    appends.pass(async () => 'stored'),
  )
  await pause(550)
  const trying = appends.pass(async () => pause(50).then(() => 'stored'))
  await failsBy(
    StoreUnavailable,
    appends.pass(async () => 'stored'),
  )
  assert.is(await trying, 'stored')
  assert.is(await appends.pass(async () => 'stored'), 'stored')
})

test('go on behind one whose outcome is unknown for another reason', async () => {
  const appends = new UnansweredAppends('EventStoreDB')
  await failsBy(OutcomeUnknown, appends.pass(lostAfter(1)))
  assert.is(await appends.pass(async () => 'stored'), 'stored')
})

test.run()
