import * as assert from 'uvu/assert'
import { StoreUnavailable } from '../../../src/stores/ports/event-store.ts'
import { event, ids, newStream, rejectedWith } from '../../contract/event-store/given.ts'
import { suiteOnPeer } from './given.ts'

const test = suiteOnPeer('many reads of EventStoreDB at once')

const COUNT = 300
/** Reads that a server has to answer at a time. */
const BESIDE = 32

test('are asked 32 at a time, so that the server has for each the time that one may take, and all succeed', async ({
  peer,
  store,
}) => {
  const streams = Array.from({ length: COUNT }, newStream)
  const stored = streams.map(() => event())
  await Promise.all(streams.map((stream, at) => store.append(stream, 'none', stored.slice(at, at + 1))))
  peer.faults.readPause = 1
  const read = await Promise.all(streams.map((stream) => store.read(stream)))
  assert.equal(
    read.flatMap(ids),
    stored.map(({ id }) => id),
  )
  assert.is(peer.faults.mostReads, BESIDE)
})

test('are all refused together by a server that says nothing, and begin anew with one that does', async ({
  peer,
  store,
}) => {
  const one = event()
  await store.append('known', 'none', [one])
  peer.faults.silent = true
  const before = peer.faults.reads
  await Promise.all(Array.from({ length: COUNT }, () => rejectedWith(StoreUnavailable, store.read('known'))))
  assert.is(peer.faults.reads - before, BESIDE, 'some ask a server that let the first ones wait in vain')
  peer.faults.silent = false
  assert.equal(ids(await store.read('known')), [one.id])
})

test.run()
