import * as assert from 'uvu/assert'
import { StoreUnavailable } from '../../../src/stores/ports/event-store.ts'
import { event, ids, newStream, rejectedWith } from '../../contract/event-store/given.ts'
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
  const read = await Promise.all(streams.map((stream) => store.read(stream)))
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
  await Promise.all(Array.from({ length: COUNT }, () => rejectedWith(StoreUnavailable, store.read('known'))))
  assert.is(peer.faults.reads - before, CONCURRENT_READS, 'further reads were sent after the first ones timed out')
  peer.faults.silent = false
  assert.equal(ids(await store.read('known')), [one.id])
})

test.run()
