import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  OutcomeUnknown,
  StoreUnavailable,
  type EventStore,
  type NewEvent,
} from '../../../src/stores/ports/event-store.ts'
import { openEventStoreDB } from '../../../src/stores/eventstoredb/eventstoredb.ts'
import { all, event, events, ids, newStream, rejectedWith, takeEvents } from '../../contract/event-store/given.ts'
import { startCluster, type Cluster } from '../../eventstoredb/peer/cluster.ts'
import { timingWhile } from './given.ts'
import { until, waitFor } from '../../until.ts'

type Given = { cluster: Cluster; store: EventStore }
const test = suite<Given>('a cluster of EventStoreDB')

test.before.each(async (given) => {
  given.cluster = await startCluster()
  given.store = openEventStoreDB(given.cluster.url, timingOn(given.cluster))
})
test.after.each(async ({ cluster, store }) => {
  await store.close()
  await cluster.stop()
})

/**
 * Requests time out soon while there is no leader or a node hangs, since they may go to a node that never responds. Appends
 * also time out soon while a deposed leader may still receive them.
 */
const timingOn = (cluster: Cluster) =>
  timingWhile((what) =>
    what === 'all'
      ? cluster.leader().role === 'leader' && cluster.nodes.every(({ isFrozen }) => !isFrozen)
      : cluster.nodes.every(({ role }) => role !== 'deposed'),
  )

/** Appends, and retries while the store is unavailable or the outcome unknown. */
function appended(store: EventStore, stream: string, index: number, one: NewEvent): Promise<void> {
  const expected = index === 0 ? 'none' : BigInt(index - 1)
  return until('an append', async () => {
    try {
      await store.append(stream, expected, [one])
      return true
    } catch (error) {
      if (error instanceof StoreUnavailable || error instanceof OutcomeUnknown) return false
      throw error
    }
  })
}

test('is used through its leader, even if the address names another node first or only another node', async ({
  cluster,
}) => {
  const [first] = cluster.nodes
  if (first === undefined) throw new Error('there are no nodes')
  cluster.freeze(first)
  cluster.elect()
  cluster.thaw(first)
  cluster.rejoin(first)
  for (const url of [cluster.url, first.peer.url]) {
    const store = openEventStoreDB(url, timingOn(cluster))
    const stream = newStream()
    const batch = events(3)
    await until('a connection to the leader', async () =>
      Boolean(await Promise.resolve(store.head()).catch(() => false)),
    )
    await store.append(stream, 'none', batch)
    assert.equal(ids(await store.readStream(stream)), ids(batch))
    await store.close()
  }
})

test('loses and duplicates no event when its leader hangs and another one is elected', async ({ cluster, store }) => {
  const stream = newStream()
  const batch = events(30)
  const taken = takeEvents(store.subscribe('start', { prefixes: [stream] }), batch.length)
  const old = cluster.leader()
  for (const [index, one] of batch.entries()) {
    if (index === 10) {
      cluster.freeze(old)
      await rejectedWith(OutcomeUnknown, store.append(stream, BigInt(index - 1), [one]))
      cluster.loseLeader()
      await rejectedWith(StoreUnavailable, store.readStream(stream))
      cluster.elect()
    }
    await appended(store, stream, index, one)
  }
  cluster.thaw(old)
  cluster.rejoin(old)
  assert.equal(ids(await store.readStream(stream)), ids(batch))
  assert.equal(ids(await waitFor('all events', taken)), ids(batch))
})

test('is used through its new leader after the deposed leader returns', async ({ cluster, store }) => {
  const stream = newStream()
  const batch = events(3)
  await store.append(stream, 'none', batch.slice(0, 1))
  const old = cluster.leader()
  cluster.freeze(old)
  cluster.elect()
  const other = openEventStoreDB(cluster.url, timingOn(cluster))
  await appended(other, stream, 1, batch[1] ?? event())
  // The old leader responds again and still reports itself as leader.
  cluster.thaw(old)
  const fresh = openEventStoreDB(cluster.url, timingOn(cluster))
  assert.equal(ids(await fresh.readStream(stream)), ids(batch.slice(0, 2)))
  await appended(store, stream, 2, batch[2] ?? event())
  cluster.rejoin(old)
  for (const one of [store, other, fresh]) {
    assert.equal(ids(await one.readStream(stream)), ids(batch))
    assert.equal(ids(await all(one.readAll('start', { prefixes: [stream] }))), ids(batch))
    await one.close()
  }
})

test('reports that it has no leader, and is used again after an election', async ({ cluster, store }) => {
  await store.append(newStream(), 'none', events(1))
  cluster.freeze(cluster.leader())
  cluster.loseLeader()
  await rejectedWith(StoreUnavailable, store.readStream(newStream()))
  await until('the outage to be known', async () => {
    const { message } = await rejectedWith(StoreUnavailable, store.append(newStream(), 'none', events(1)))
    return /no leader found among/.test(message)
  })
  cluster.elect()
  await appended(store, newStream(), 0, event())
})

test('accepts appends when the clocks of its nodes are ahead', async ({ cluster, store }) => {
  for (const { peer } of cluster.nodes) peer.faults.clockAheadMs = 3_600_000
  const stream = newStream()
  const batch = events(3)
  await store.append(stream, 'none', batch)
  assert.equal(ids(await store.readStream(stream)), ids(batch))
})

test.run()
