import * as assert from 'uvu/assert'
import { StoreUnavailable } from '../../../src/stores/ports/event-store.ts'
import { event, events, ids, newStream, rejectedWith } from '../../contract/event-store/given.ts'
import { until } from '../../until.ts'
import { suiteOnPeer } from './given.ts'

const test = suiteOnPeer('many concurrent reads of EventStoreDB')

const COUNT = 300
/** Reads that the store sends concurrently. */
const CONCURRENT_READS = 32

test('are sent 32 at a time and all succeed', async ({ peer, store }) => {
  const streams = Array.from({ length: COUNT }, newStream)
  const stored = streams.map(() => event())
  await Promise.all(streams.map((stream, at) => store.append(stream, 'none', stored.slice(at, at + 1))))
  peer.faults.readPauseMs = 1
  const read = await Promise.all(streams.map((stream) => store.readStream(stream)))
  assert.equal(
    read.flatMap(ids),
    stored.map(({ id }) => id),
  )
  assert.is(peer.faults.maxConcurrentReads, CONCURRENT_READS)
})

test('are all rejected when the server is silent, and succeed when it responds again', async ({ peer, store }) => {
  const one = event()
  await store.append('known', 'none', [one])
  peer.faults.silent = true
  const before = peer.faults.reads
  await Promise.all(Array.from({ length: COUNT }, () => rejectedWith(StoreUnavailable, store.readStream('known'))))
  assert.is(peer.faults.reads - before, CONCURRENT_READS, 'further reads were sent after the first ones timed out')
  peer.faults.silent = false
  assert.equal(ids(await store.readStream('known')), [one.id])
})

test('of single events of all streams are sent one at a time, so that the server does not stall', async ({
  peer,
  store,
}) => {
  const positions = await Promise.all(events(20).map((one) => store.append(newStream(), 'none', [one])))
  peer.faults.stallMs = 1_000
  await Promise.all([...positions.map((position) => store.eventAt(position)), store.head()])
  assert.is(peer.faults.stalls, 0)
})

test('of the event at one position are sent once', async ({ peer, store }) => {
  const one = event()
  const position = await store.append(newStream(), 'none', [one])
  const found = await Promise.all(Array.from({ length: 20 }, () => store.eventAt(position)))
  assert.ok(found.every((each) => each?.id === one.id))
  assert.equal(peer.faults.positionsRead, [position.commit])
})

test('are repeated once when their connection ends, and not more often', async ({ peer, store }) => {
  const stream = newStream()
  const stored = events(3)
  await store.append(stream, 'none', stored)
  const { faults } = peer
  const unanswered = (count: number) => until('an unanswered read', () => faults.unansweredStreams.length === count)
  faults.silentStreamReads = true
  const repeated = store.readStream(stream)
  await unanswered(1)
  faults.silentStreamReads = false
  peer.drop()
  assert.equal(ids(await repeated), ids(stored))
  faults.silentStreamReads = true
  const lost = rejectedWith(StoreUnavailable, store.readStream(stream))
  for (const count of [2, 3]) {
    await unanswered(count)
    peer.drop()
  }
  await lost
})

test('of the whole log continue after the last event when their connection ends', async ({ peer, store }) => {
  const stored = Array.from({ length: 2_000 }, (_, number) => event(number))
  const stream = newStream()
  await store.append(stream, 'none', stored)
  const read: string[] = []
  for await (const { id } of store.readAll('start', { prefixes: [stream] })) {
    read.push(id)
    if (read.length === 1) peer.drop()
  }
  assert.equal(read, ids(stored))
})

test.run()
