import * as assert from 'uvu/assert'
import { all, event, events, flat, newStream, take } from '../../contract/event-store/given.ts'
import type { PositionOrStart, StoredEvent } from '../../../src/stores/ports/event-store.ts'
import { PositionIndex } from '../../../src/stores/eventstoredb/reader.ts'
import { suiteOnPeer } from './given.ts'

/** An event as a server before 22.6 returns it. */
const withoutPosition = (stored: StoredEvent): StoredEvent => {
  const position = { commit: 2n ** 64n - 1n, prepare: 2n ** 64n - 1n }
  return { ...stored, position }
}

const test = suiteOnPeer('a store on EventStoreDB before 22.6, which omits positions in stream reads')

test('returns the position of each event of a stream, also of events from other processes', async ({
  peer,
  store,
  open,
}) => {
  peer.faults.behaveAs2110()
  const [one, other] = [newStream(), newStream()]
  const otherStore = open()
  for (let revision = -1n; revision < 5n; revision++) {
    const expected = revision < 0n ? 'none' : revision
    await store.append(one, expected, [event()])
    await otherStore.append(other, expected, [event()])
    for (const reader of [store, otherStore]) {
      const read = [...(await reader.readStream(one)), ...(await reader.readStream(other, { last: 2 }))]
      for (const { id, position } of read) assert.is((await store.eventAt(position))?.id, id)
    }
  }
  const positions = (await all(store.readAll('start', { prefixes: [one] }))).map(({ position }) => position)
  assert.equal(
    (await store.readStream(one)).map(({ position }) => position),
    positions,
  )
})

test('returns the position of an append that timed out but was stored, and its subscription catches up to it', async ({
  peer,
  store,
}) => {
  peer.faults.behaveAs2110()
  const stream = newStream()
  await store.append(stream, 'none', [event()])
  const subscription = store.subscribe('start', { prefixes: [stream] })
  peer.faults.appends.push('timeout, stored')
  const position = await store.append(stream, 0n, events(2))
  assert.equal(position, await store.head())
  const batches = await take(subscription, (taken) => taken.at(-1)?.caughtUp === true)
  assert.equal(batches.at(-1)?.position, position)
  assert.is(flat(batches).length, 3)
})

test('reads the log once for the positions, and then only its new events', async ({ store }) => {
  const streams = Array.from({ length: 20 }, () => newStream())
  const write = (expected: 'none' | bigint) =>
    Promise.all(streams.map((stream) => store.append(stream, expected, events(2))))
  const from: PositionOrStart[] = []
  const index = new PositionIndex((position) => {
    from.push(position)
    return store.readAll(position)
  })
  await write('none')
  const head = await store.head()
  for (const stream of streams) await index.withPositions((await store.readStream(stream)).map(withoutPosition))
  await write(1n)
  for (const stream of streams) {
    const read = await store.readStream(stream)
    assert.equal(await index.withPositions(read.map(withoutPosition)), read)
  }
  assert.equal(from, ['start', head])
})

test.run()
