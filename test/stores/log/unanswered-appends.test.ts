import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { OutcomeUnknown, StoreUnavailable } from '../../../src/stores/ports/event-store.ts'
import { UnansweredAppends } from '../../../src/stores/log/unanswered-appends.ts'
import { withFakeTime, type FakeTime } from '../../fake-time.ts'

const test = suite('appends to a log that only reads')

/** An append that meets no answer for so many milliseconds. */
async function loses(appends: UnansweredAppends, time: FakeTime, milliseconds: number): Promise<void> {
  const lost = appends.pass(async () => {
    await time.pass(milliseconds)
    throw new OutcomeUnknown('no answer')
  })
  await failsBy(OutcomeUnknown, lost)
}

async function failsBy(kind: new (...given: never[]) => Error, work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    return assert.instance(error, kind)
  }
  assert.unreachable('it did not fail')
}

test('are refused at once behind one that had no answer for a second, but for one at a time that tries', () =>
  withFakeTime(async (time) => {
    const appends = new UnansweredAppends('EventStoreDB')
    await loses(appends, time, 1_000)
    const refused = () =>
      failsBy(
        StoreUnavailable,
        appends.pass(async () => 'stored'),
      )
    // Who waited for that one in a queue has not waited twice.
    await time.pass(499)
    await refused()
    await time.pass(1)
    let answer: (told: string) => void = () => {}
    const trying = appends.pass(() => new Promise<string>((done) => (answer = done)))
    await refused()
    answer('stored')
    assert.is(await trying, 'stored')
    assert.is(await appends.pass(async () => 'stored'), 'stored')
  }))

test('go on behind one whose outcome is unknown for another reason', () =>
  withFakeTime(async (time) => {
    const appends = new UnansweredAppends('EventStoreDB')
    await loses(appends, time, 999)
    assert.is(await appends.pass(async () => 'stored'), 'stored')
  }))

test.run()
