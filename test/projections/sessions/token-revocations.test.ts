import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createLogger } from '../../../src/runtime/logger.ts'
import { TokenRevocationList } from '../../../src/projections/sessions/token-revocations.ts'
import { NO_STALE_READS, StaleReadPolicy } from '../../../src/projections/engine/stale-reads.ts'
import {
  comparePositions,
  StoreUnavailable,
  type SubscriptionBatch,
  type EventStore,
  type PositionOrStart,
  type Subscription,
} from '../../../src/stores/ports/event-store.ts'
import { openSqliteEventStore } from '../../../src/stores/sqlite/events.ts'
import { withLogFile } from '../../commands/accounts-on-disk.ts'
import { until } from '../../until.ts'

const test = suite('the token revocation list')

const TTL = 100
const token = { account: 7, accountEpoch: 0, client: '1_x', clientEpoch: 0, session: 's', number: 0 }
const metadata = { at: new Date(1000).toISOString() }
const ids = Array.from({ length: 9 }, (_, index) => `00000000-0000-4000-8000-00000000000${index}`)
const revoked = (id = 0) => ({ id: ids[id] ?? '', type: 'SessionRevoked', data: { at: 1000 }, metadata })

/** A store with an asynchronous `head`, like one behind a network. Its subscriptions deliver nothing while `stalled`. */
function behindNetwork(store: EventStore, fault: { stalled: boolean; down: boolean }): EventStore {
  const check = () => {
    if (fault.down) throw new StoreUnavailable('down')
  }
  async function* until(
    batches: AsyncIterable<SubscriptionBatch>,
    stopped: Promise<void>,
  ): AsyncGenerator<SubscriptionBatch> {
    for await (const batch of batches) {
      if (fault.stalled) return await stopped
      yield batch
    }
  }
  return {
    ...store,
    isHeadLocal: false,
    async head(): Promise<PositionOrStart> {
      check()
      return store.head()
    },
    async readStream(...args) {
      check()
      return store.readStream(...args)
    },
    subscribe(...args): Subscription {
      const subscription = store.subscribe(...args)
      let stop = () => {}
      const stopped = new Promise<void>((done) => (stop = done))
      const batches = until(subscription, stopped)
      void stopped.then(() => subscription.stop())
      return { stop, [Symbol.asyncIterator]: () => batches[Symbol.asyncIterator]() }
    },
  }
}

const openList = (store: EventStore, monotonic = () => 0, stale = NO_STALE_READS) =>
  new TokenRevocationList({
    store,
    ttlSeconds: TTL,
    clock: () => 1000,
    monotonic,
    loginLocations: { note: () => {} },
    linkKeys: { note: () => {} },
    stale,
    log: createLogger('error'),
  })

/** The earliest turn in which another request can arrive. */
const nextTurn = () => new Promise<void>((done) => setImmediate(done))

test('contains the revocations from before its start', () =>
  withLogFile(async (file) => {
    const store = openSqliteEventStore(file)
    await store.append('session-s', 'none', [revoked()])
    const list = openList(store)
    await list.start()
    assert.is(await list.isLive(token), false)
    assert.is(await list.isLive({ ...token, session: 't' }), true)
    list.stop()
    await store.close()
  }))

test('answers from memory after a write by its own process, and correctly after one of another process', () =>
  withLogFile(async (file) => {
    const [store, other] = [openSqliteEventStore(file), openSqliteEventStore(file)]
    const list = openList(store)
    await list.start()
    await store.append('diamond-1', 'none', [{ ...revoked(1), type: 'DiamondCreated' }])
    await nextTurn()
    assert.is(await list.isLive(token), true)
    await other.append('session-s', 'none', [revoked()])
    assert.is(await list.isLive(token), false)
    list.stop()
    await Promise.all([store.close(), other.close()])
  }))

test('reads the log if its subscription delivers nothing', () =>
  withLogFile(async (file) => {
    const store = openSqliteEventStore(file)
    const fault = { stalled: false, down: false }
    const list = openList({ ...behindNetwork(store, fault), isHeadLocal: true, head: () => store.head() })
    await list.start()
    const before = await list.latestAccountPosition()
    fault.stalled = true
    await store.append('session-s', 'none', [revoked()])
    const keepAlive = setInterval(() => {}, 1000)
    const [isLive, isOtherLive, changedAt] = await Promise.all([
      list.isLive(token),
      list.isLive({ ...token, session: 'another' }),
      list.latestAccountPosition(),
    ])
    clearInterval(keepAlive)
    assert.equal([isLive, isOtherLive], [false, true])
    assert.ok(comparePositions(changedAt, before) > 0, 'an account may have changed meanwhile')
    list.stop()
    await store.close()
  }))

test('of a store behind a network answers from memory for 5 s after a confirmation', () =>
  withLogFile(async (file) => {
    const [store, other] = [openSqliteEventStore(file), openSqliteEventStore(file)]
    const fault = { stalled: false, down: false }
    let now = 0
    const list = openList(behindNetwork(store, fault), () => now)
    await list.start()
    fault.down = true
    now = 4999
    assert.is(await list.isLive(token), true)
    now = 5000
    try {
      await list.isLive(token)
      assert.unreachable('it answered')
    } catch (error) {
      assert.ok(error instanceof StoreUnavailable, String(error))
    }
    fault.down = false
    await list.confirm()
    assert.is(await list.isLive(token), true)
    await other.append('session-s', 'none', [revoked()])
    await until('the revocation to be known', async () => !(await list.isLive(token)))
    list.stop()
    await Promise.all([store.close(), other.close()])
  }))

test('lets reads use the last confirmation while the log is unavailable, for the time of STALE_READS', () =>
  withLogFile(async (file) => {
    const store = openSqliteEventStore(file)
    const fault = { stalled: false, down: false }
    let now = 0
    const settledState = async () => (fault.down ? 'open' : 'closed')
    const breaker = { answeredAt: 60_000, settledState }
    const stale = new StaleReadPolicy({ breaker, newestPosition: () => 'start' }, 60, () => now)
    const list = openList(behindNetwork(store, fault), () => now, stale)
    await store.append('session-ended', 'none', [revoked()])
    await list.start()
    fault.down = true
    now = 59_999
    const error = new StoreUnavailable('down')
    assert.is(await list.wasLiveWhenConfirmed(token, error), true)
    assert.is(await list.wasLiveWhenConfirmed({ ...token, session: 'ended' }, error), false)
    for (const [time, down] of [
      [60_000, true],
      [10_000, false],
    ] as const) {
      now = time
      fault.down = down
      try {
        await list.wasLiveWhenConfirmed(token, error)
        assert.unreachable('it answered')
      } catch (thrown) {
        assert.is(thrown, error)
      }
    }
    list.stop()
    await store.close()
  }))

test('without a recent confirmation reads the head to tell whether an account has changed', () =>
  withLogFile(async (file) => {
    const store = openSqliteEventStore(file)
    const fault = { stalled: false, down: false }
    let now = 0
    const list = openList(behindNetwork(store, fault), () => now)
    await store.append('account-7', 'none', [{ ...revoked(), type: 'PasswordChanged', data: { epoch: 1 } }])
    await list.start()
    const confirmed = await list.latestAccountPosition()
    await store.append('diamond-1', 'none', [{ ...revoked(1), type: 'DiamondCreated' }])
    now = 5000
    assert.equal(await list.latestAccountPosition(), confirmed)
    list.stop()
    await store.close()
  }))

test('without a recent confirmation reads the streams of each token', () =>
  withLogFile(async (file) => {
    const store = openSqliteEventStore(file)
    const fault = { stalled: false, down: false }
    let now = 0
    const list = openList(behindNetwork(store, fault), () => now)
    await list.start()
    fault.stalled = true
    await store.append('account-7', 'none', [{ ...revoked(), type: 'PasswordChanged', data: { epoch: 1 } }])
    now = 5000
    assert.is(await list.isLive(token), false)
    assert.is(await list.isLive({ ...token, accountEpoch: 1 }), true)
    list.stop()
    await store.close()
  }))

test('contains an event from its own process before the subscription delivers it', () =>
  withLogFile(async (file) => {
    const store = openSqliteEventStore(file)
    const list = openList(behindNetwork(store, { stalled: false, down: false }))
    await list.start()
    list.applyEvent({ ...revoked(), stream: 'session-s' })
    assert.is(await list.isLive(token), false)
    list.stop()
    await store.close()
  }))

test.run()
