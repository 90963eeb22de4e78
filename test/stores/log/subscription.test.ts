import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { DamagedStore, StoreUnavailable, type SubscriptionBatch } from '../../../src/stores/ports/event-store.ts'
import { LogSubscription, type SubscriptionSource } from '../../../src/stores/log/subscription.ts'
import { LogTail } from '../../../src/stores/log/tail.ts'
import { rejectedWith } from '../../contract/event-store/given.ts'

const test = suite('a subscription to a log')

const position = { commit: 2n, prepare: 2n }
const caughtUp: SubscriptionBatch = { events: [], position, caughtUp: true }

/** A log whose first reads fail, with its failures reported to `onFailure`. */
function failingSource(failures: Error[], onFailure: (error: unknown) => void): SubscriptionSource {
  const tail = new LogTail({ maxEvents: 1, maxBytes: 1 })
  tail.startAt(position)
  const failNext = () => {
    const failure = failures.shift()
    if (failure !== undefined) throw failure
  }
  return {
    batchAfter: (...args) => tail.batchAfter(...args),
    async follow(wake) {
      failNext()
      return tail.follow(wake)
    },
    async *catchUp() {
      failNext()
      yield caughtUp
    },
    onFailure,
    backOff: { firstPauseMs: 1, longestPauseMs: 1 },
  }
}

test('reports each failure and continues when the store can be read again', async () => {
  const faults = [1, 2, 3].map((number) => new StoreUnavailable(`events.db: disk I/O error ${number}`))
  const reported: unknown[] = []
  const source = failingSource([...faults], (error) => reported.push(error))
  for await (const batch of new LogSubscription(source, 'start', undefined)) {
    assert.equal(batch, caughtUp)
    break
  }
  assert.equal(reported, faults)
})

test('reports once that it has caught up, and not that it was stopped', async () => {
  const batches: SubscriptionBatch[] = []
  const subscription = new LogSubscription(
    failingSource([], (error) => assert.unreachable(String(error))),
    'start',
    undefined,
  )
  for await (const batch of subscription) {
    batches.push(batch)
    setImmediate(() => subscription.stop())
  }
  assert.equal(batches, [caughtUp])
})

test('ends with a failure that a repeat can not mend', async () => {
  const damaged = new DamagedStore('events.db', 'restore it', { detail: 'malformed' })
  const source = failingSource([damaged], (error) => {
    throw error
  })
  const subscription = new LogSubscription(source, 'start', undefined)
  await rejectedWith(DamagedStore, subscription[Symbol.asyncIterator]().next())
})

test.run()
