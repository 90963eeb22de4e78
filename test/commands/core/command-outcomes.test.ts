import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { CommandOutcomes } from '../../../src/commands/core/command-outcomes.ts'
import { RequestError } from '../../../src/domain/request-error.ts'
import {
  EventsRemoved,
  LogClosed,
  OutcomeUnknown,
  StoreUnavailable,
  WrongRevision,
} from '../../../src/stores/ports/event-store.ts'

const test = suite('command outcomes')

const hasSome = ({ count }: { readonly count: number }) => count > 0

const endings: readonly (readonly [outcome: string, error: unknown])[] = [
  ['refused', new RequestError('missing', 'There is none')],
  ['refused', new EventsRemoved('diamond-7')],
  ['conflict', new WrongRevision('diamond-7', 3n, 4n)],
  ['unknown', new OutcomeUnknown('no answer')],
  ['unavailable', new StoreUnavailable('away')],
  ['unavailable', new LogClosed({ why: 'fenced', copy: 'c', to: 'elsewhere' })],
  ['failed', new TypeError('a fault of ours')],
]

for (const [outcome, error] of endings) {
  test(`count ${outcome} when the command fails with ${(error as Error).name}, and the caller gets the error`, async () => {
    const outcomes = new CommandOutcomes()
    const failed = outcomes.track('diamond-7', () => Promise.reject(error))
    assert.is(await failed.catch((thrown: unknown) => thrown), error)
    assert.equal(outcomes.outcomeCounts.filter(hasSome), [{ subject: 'diamond', kind: outcome, count: 1 }])
  })
}

test('are labelled with the category of the stream, not with its name', async () => {
  const outcomes = new CommandOutcomes()
  for (const stream of ['diamond-1', 'diamond-2', 'account-1', 'restores']) await outcomes.track(stream, async () => 1)
  outcomes.countRetry('diamond-9', new WrongRevision('diamond-9', 3n, 4n))
  outcomes.countRetry('diamond-8', new OutcomeUnknown('no answer'))
  assert.equal(outcomes.outcomeCounts.filter(hasSome), [
    { subject: 'diamond', kind: 'done', count: 2 },
    { subject: 'account', kind: 'done', count: 1 },
    { subject: 'restores', kind: 'done', count: 1 },
  ])
  assert.equal(outcomes.retryCounts.filter(hasSome), [
    { subject: 'diamond', kind: 'conflict', count: 1 },
    { subject: 'diamond', kind: 'unknown', count: 1 },
  ])
})

test('start at 0 for every category', () => {
  const { outcomeCounts, retryCounts } = new CommandOutcomes()
  for (const subject of ['diamond', 'account', 'secret', 'webhooks'])
    for (const kind of ['done', 'refused', 'conflict', 'unknown', 'unavailable', 'failed'])
      assert.ok(
        outcomeCounts.some((one) => one.subject === subject && one.kind === kind && one.count === 0),
        `${subject} ${kind}`,
      )
  assert.ok(retryCounts.some(({ subject, kind, count }) => subject === 'diamond' && kind === 'conflict' && count === 0))
})

test.run()
