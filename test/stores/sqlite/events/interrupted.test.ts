import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { StoreUnavailable } from '../../../../src/stores/ports/event-store.ts'
import { SqliteSubscription } from '../../../../src/stores/sqlite/events/feed.ts'

const test = suite('a subscription whose file can not be read for a while')

test('tells of each try as of one outage, and goes on when it is over', async () => {
  const fault = new StoreUnavailable('events.db: disk I/O error')
  let failures = 2
  const next = (position: number) => {
    if (failures-- > 0) throw fault
    return { batch: { events: [], position: 'start' as const, caughtUp: true }, position, isFromMemory: true }
  }
  const told: unknown[] = []
  // The pauses between the tries keep no process alive.
  const alive = setInterval(() => {}, 1_000)
  const source = { next, addListener: () => () => {} }
  const subscription = new SqliteSubscription(source, 0, (found) => told.push(found))
  for await (const { caughtUp } of subscription) {
    assert.ok(caughtUp)
    break
  }
  clearInterval(alive)
  assert.equal(told, [
    { err: fault, repeats: true },
    { err: fault, repeats: true },
  ])
})

test.run()
