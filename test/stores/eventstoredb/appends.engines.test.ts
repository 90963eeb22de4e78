import { randomUUID } from 'node:crypto'
import * as assert from 'uvu/assert'
import {
  EventsRemoved,
  OutcomeUnknown,
  StoreMisconfigured,
  StoreUnavailable,
  WrongRevision,
} from '../../../src/stores/ports/event-store.ts'
import { all, event, events, ids, newStream, numbers, rejectedWith } from '../../contract/event-store/given.ts'
import type { Peer } from '../../eventstoredb/peer/peer.ts'
import { suiteOnPeer } from './given.ts'

const test = suiteOnPeer('appends to EventStoreDB')

const foreign = (type: string) => ({
  id: randomUUID(),
  type,
  contentType: 'application/json',
  data: Buffer.from('{}'),
  metadata: Buffer.of(),
})

/** The ways to remove the first `count` events of a stream by hand. */
const REMOVALS: Readonly<Record<string, (peer: Peer, stream: string, count: number) => void>> = {
  'in a deleted stream': ({ log }, stream) => log.delete(stream),
  'in a permanently deleted stream': ({ log }, stream) => log.tombstone(stream),
  'hidden by $tb': ({ log }, stream, count) => setMetadata(log, stream, { $tb: count }),
  'hidden by $maxCount': ({ log }, stream, count) =>
    setMetadata(log, stream, { $maxCount: (log.stream(stream)?.length ?? 0) - count }),
}

function setMetadata(log: Peer['log'], stream: string, metadata: object): void {
  const data = Buffer.from(JSON.stringify(metadata))
  log.append(`$$${stream}`, 'any', [{ ...foreign('$metadata'), data }])
}

const large = (number: number) => ({ ...event(number), data: { number, text: 'x'.repeat(400 * 1024) } })

test('of more than 1 MiB are split, stored at exact revisions, and recognised when repeated', async ({ store }) => {
  const stream = newStream()
  const batch = [0, 1, 2, 3, 4].map(large)
  const position = await store.append(stream, 'none', batch)
  assert.equal(numbers(await store.readStream(stream)), [0, 1, 2, 3, 4])
  assert.equal(await store.append(stream, 'none', batch), position)
  assert.is((await store.readStream(stream)).length, 5)
})

test('with an event that is too large are rejected before any part of them is sent', async ({ peer, store }) => {
  const one = { ...event(), data: { text: 'x'.repeat(1_100_000) } }
  await rejectedWith(TypeError, store.append(newStream(), 'none', [event(), one]))
  assert.ok(peer.log.all.every(({ type }) => type === 'LogCreated'))
})

test('that are invalid do not create a log', async ({ peer, store }) => {
  await rejectedWith(TypeError, store.append('', 'none', [event()]))
  await rejectedWith(TypeError, store.append(newStream(), 'none', [{ ...event(), id: 'no UUID' }]))
  assert.equal(peer.log.all, [])
})

test('to several streams are all attempted, even if one is rejected', async ({ store }) => {
  const [taken, ...others] = [newStream(), newStream(), newStream()]
  await store.append(taken, 'none', [event()])
  const bulk = [taken, ...others].map((stream) => ({ stream, expected: 'none' as const, events: events(2) }))
  const error = await rejectedWith(WrongRevision, store.appendMany(bulk))
  assert.is(error.stream, taken)
  for (const stream of others) assert.is((await store.readStream(stream)).length, 2)
})

test('of a bulk to one stream keep their order', async ({ store }) => {
  const stream = newStream()
  const bulk = events(20).map((one, index) => ({
    stream,
    expected: index === 0 ? ('none' as const) : BigInt(index - 1),
    events: [one],
  }))
  await store.appendMany(bulk)
  assert.equal(
    ids(await store.readStream(stream)),
    bulk.flatMap((append) => ids(append.events)),
  )
})

test('of one store succeed while another store of the same process is closed', async ({ store, open }) => {
  const other = open()
  await other.append(newStream(), 'none', [event()])
  const appends = Array.from({ length: 200 }, () => store.append(newStream(), 'none', [event()]))
  await other.close()
  assert.is((await Promise.all(appends)).length, 200)
})

test('follow one LogCreated event, even if two processes append first concurrently', async ({ peer, store, open }) => {
  const other = open()
  await Promise.all([store, other].map((one) => one.append(newStream(), 'none', [event()])))
  assert.equal(
    peer.log.all.map(({ type }) => type),
    ['LogCreated', 'Counted', 'Counted'],
  )
  assert.is(await store.identity(), await other.identity())
})

test('are rejected in the database of another application, and nothing is written', async ({ peer, open }) => {
  const rejected = async () => {
    const eventsBefore = peer.log.all.length
    const { message } = await rejectedWith(StoreMisconfigured, open().append(newStream(), 'none', [event()]))
    assert.is(peer.log.all.length, eventsBefore)
    return message
  }
  peer.log.append('order-1', 'no_stream', [foreign('Ordered')])
  assert.match(await rejected(), /has events in order-1, but no LogCreated/)
  peer.log.append('log', 'no_stream', [foreign('Ordered')])
  assert.match(await rejected(), /has a stream log that does not begin with LogCreated/)
})

test('of many processes that append first concurrently succeed, although each finds events of the others', async ({
  peer,
  open,
}) => {
  await Promise.all(Array.from({ length: 20 }, () => open().append(newStream(), 'none', [event()])))
  assert.is(peer.log.all.filter(({ type }) => type === 'LogCreated').length, 1)
  assert.is(peer.log.all.length, 21)
})

for (const [where, remove] of Object.entries(REMOVALS)) {
  test(`that repeat events ${where} are rejected with EventsRemoved, and others are stored`, async ({
    peer,
    store,
  }) => {
    const stream = newStream()
    const removed = events(2)
    await store.append(stream, 'none', removed)
    await store.append(stream, 1n, [event()])
    remove(peer, stream, 2)
    const { message } = await rejectedWith(EventsRemoved, store.append(stream, 'none', removed))
    assert.match(message, `${stream}: events were removed from this stream by hand`)
    const others = [newStream(), newStream()]
    const appends = [stream, ...others].map((name) => ({
      stream: name,
      expected: 'none' as const,
      events: name === stream ? removed : [event()],
    }))
    await rejectedWith(EventsRemoved, store.appendMany(appends))
    for (const other of others) assert.is((await store.readStream(other)).length, 1)
    await rejectedWith(EventsRemoved, store.appendMany(appends, 'kept'))
  })
}

test('that repeat events are recognised while only others of their stream are hidden', async ({ peer, store }) => {
  const stream = newStream()
  const [first, second] = [event(), event()]
  await store.append(stream, 'none', [first])
  const position = await store.append(stream, 0n, [second])
  setMetadata(peer.log, stream, { $tb: 1 })
  assert.equal(await store.append(stream, 0n, [second]), position)
})

test('of new events to a stream whose events are all hidden are rejected with EventsRemoved, not as a conflict', async ({
  peer,
  store,
}) => {
  const stream = newStream()
  await store.append(stream, 'none', [event()])
  setMetadata(peer.log, stream, { $tb: 1 })
  assert.equal(await store.readStream(stream), [])
  await rejectedWith(EventsRemoved, store.append(stream, 'none', [event()]))
  await rejectedWith(WrongRevision, store.append(stream, 1n, [event()]))
})

test('of an ordered bulk are sent without waiting for the responses to earlier ones', async ({ peer, store }) => {
  await store.append(newStream(), 'none', [event()])
  peer.faults.responsesTogether = 100
  const appends = Array.from({ length: 200 }, (_, index) => ({
    stream: newStream(),
    expected: 'none' as const,
    events: [event(index)],
  }))
  assert.is((await store.appendMany(appends, 'kept')).length, appends.length)
})

test('of an ordered bulk keep their order when connections are lost and the bulk is repeated', async ({
  peer,
  store,
}) => {
  const streams = Array.from({ length: 11 }, () => newStream())
  const appends = Array.from({ length: 1_000 }, (_, index) => {
    const revision = Math.floor(index / streams.length)
    const expected = revision === 0 ? ('none' as const) : BigInt(revision - 1)
    return { stream: streams[index % streams.length] ?? '', expected, events: [event(index)] }
  })
  const from = await store.head()
  let drops = 0
  const dropping = setInterval(() => {
    const stored = peer.log.all.length
    if (stored > drops * 250 && drops < 3) peer.drop()
    drops = Math.max(drops, Math.ceil(stored / 250))
  }, 1)
  for (let done = false; !done;) {
    done = await store.appendMany(appends, 'kept').then(
      () => true,
      (error: unknown) => {
        assert.ok(error instanceof OutcomeUnknown || error instanceof StoreUnavailable, String(error))
        return false
      },
    )
  }
  clearInterval(dropping)
  const stored = await all(store.readAll(from, { prefixes: streams }))
  assert.equal(
    numbers(stored),
    Array.from({ length: appends.length }, (_, index) => index),
  )
})

test.run()
