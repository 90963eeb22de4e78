import { setTimeout as pause } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { StoreUnavailable } from '../../../src/stores/ports/event-store.ts'
import { event, ids, newStream, rejectedWith } from '../../contract/event-store/given.ts'
import { SHORT, suiteOnPeer } from './given.ts'

/** Milliseconds that one read may take: six times as long as those that are under way together need here. */
const PATIENCE = 2_000

const test = suiteOnPeer('many reads of EventStoreDB at once', { ...SHORT, append: 4_000, read: PATIENCE })

const COUNT = 300

test('all succeed although the server needs longer for them than one of them may take', async ({ peer, store }) => {
  const streams = Array.from({ length: COUNT }, newStream)
  const stored = streams.map(() => event())
  await Promise.all(streams.map((stream, at) => store.append(stream, 'none', stored.slice(at, at + 1))))
  peer.faults.readPause = 10
  const begun = performance.now()
  const read = await Promise.all(streams.map((stream) => store.read(stream)))
  assert.ok(performance.now() - begun > PATIENCE, 'the server was too fast to show anything')
  assert.equal(
    read.flatMap(ids),
    stored.map(({ id }) => id),
  )
})

test('are all refused together by a server that says nothing, and begin anew with one that does', async ({
  peer,
  store,
}) => {
  const one = event()
  await store.append('known', 'none', [one])
  peer.faults.silent = true
  let refused = 0
  const reads = Array.from({ length: COUNT }, async () => {
    await rejectedWith(StoreUnavailable, store.read('known'))
    refused++
  })
  await Promise.race(reads)
  await pause(250)
  assert.is(refused, COUNT, 'some wait for a server that let the first one wait in vain')
  await Promise.all(reads)
  peer.faults.silent = false
  assert.equal(ids(await store.read('known')), [one.id])
})

test.run()
