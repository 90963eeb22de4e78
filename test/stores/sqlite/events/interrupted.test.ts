import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { StoreUnavailable } from '../../../../src/stores/ports/event-store.ts'
import { SqliteSubscription } from '../../../../src/stores/sqlite/events/feed.ts'

const test = suite('a subscription to a file that is temporarily unreadable')

test('logs each failed read as a repetition and continues when a read succeeds', async () => {
  const fault = new StoreUnavailable('events.db: disk I/O error')
  let failures = 2
  const next = (position: number) => {
    if (failures-- > 0) throw fault
    return { batch: { events: [], position: 'start' as const, caughtUp: true }, position, isFromMemory: true }
  }
  const logged: unknown[] = []
  // The timers between retries are unref'd, so something else must keep the process alive.
  const alive = setInterval(() => {}, 1_000)
  const source = { next, addListener: () => () => {} }
  const subscription = new SqliteSubscription(source, 0, (details) => logged.push(details))
  for await (const { caughtUp } of subscription) {
    assert.ok(caughtUp)
    break
  }
  clearInterval(alive)
  assert.equal(logged, [
    { err: fault, repeats: true },
    { err: fault, repeats: true },
  ])
})

test.run()
