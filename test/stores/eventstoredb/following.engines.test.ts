import * as assert from 'uvu/assert'
import type { EventStore, PositionOrStart, NewEvent } from '../../../src/stores/ports/event-store.ts'
import { comparePositions } from '../../../src/stores/ports/event-store.ts'
import { event, events, flat, ids, newStream, take, takeEvents } from '../../contract/event-store/given.ts'
import type { Peer } from '../../eventstoredb/peer/peer.ts'
import { suiteOnPeer } from './given.ts'
import { until, waitFor } from '../../until.ts'

const test = suiteOnPeer('a subscription to EventStoreDB')

/** Appends events one at a time; before each one, `disturb` may disturb the server. */
async function appendEach(
  store: EventStore,
  stream: string,
  batch: readonly NewEvent[],
  disturb: (index: number) => unknown,
) {
  for (const [index, one] of batch.entries()) {
    await disturb(index)
    await waitFor('an append', untilStored(store, stream, index, one))
  }
}

async function untilStored(store: EventStore, stream: string, index: number, one: NewEvent): Promise<void> {
  const isStored = () =>
    store.append(stream, index === 0 ? 'none' : BigInt(index - 1), [one]).then(
      () => true,
      () => false,
    )
  await until('the append', isStored)
}

const disturbances: [what: string, trouble: (peer: Peer, index: number) => unknown][] = [
  ['its connection is dropped', (peer, index) => index % 10 === 5 && peer.drop()],
  ['the server restarts', (peer, index) => index === 20 && peer.down().then(() => peer.up())],
  ['the server sends events twice', (peer) => (peer.faults.duplicateEvery = 2)],
  ['the server falls silent', (peer, index) => (peer.faults.silentSubscriptions = index >= 10 && index < 30)],
  ['the server is slow', (peer) => (peer.faults.messageIntervalMs = 3)],
]
for (const [description, disturb] of disturbances) {
  test(`misses nothing and repeats nothing when ${description}`, async ({ peer, store }) => {
    const stream = newStream()
    const batch = events(40)
    await store.append(newStream(), 'none', events(3))
    const taken = takeEvents(store.subscribe(await store.head(), { prefixes: [stream] }), batch.length)
    await appendEach(store, stream, batch, (index) => disturb(peer, index))
    peer.faults.silentSubscriptions = false
    assert.equal(ids(await taken), ids(batch))
  })
}

test("delivers another process's events after the live subscription died silently", async ({ peer, store, open }) => {
  const stream = newStream()
  const from = await store.append(newStream(), 'none', [event()])
  const taken = takeEvents(store.subscribe(from, { prefixes: [stream] }), 1)
  await until('the live subscription', () => peer.log.listenerCount('appended') > 0)
  peer.faults.silentSubscriptions = true
  const one = event()
  const made = peer.faults.subscriptions
  await open().append(stream, 'none', [one])
  await until('another subscription', () => peer.faults.subscriptions > made)
  peer.faults.silentSubscriptions = false
  assert.equal(ids(await taken), [one.id])
})

for (const writes of ['its own process', 'another process'] as const) {
  test(`is replaced when it falls silent while ${writes} appends, and delivers every event once`, async ({
    peer,
    store,
    open,
  }) => {
    const stream = newStream()
    const batch = events(30)
    const writer = writes === 'another process' ? open() : store
    const subscription = store.subscribe(await store.append(newStream(), 'none', [event()]), { prefixes: [stream] })
    const seen: string[] = []
    const taken = take(subscription, (batches) => {
      seen.splice(0, seen.length, ...ids(flat(batches)))
      return seen.length >= batch.length
    })
    for (const [index, one] of batch.entries()) {
      // Live events prove that there is a subscription to silence; appends continue while it is silent.
      if (index % 10 === 5)
        await until('the live events', () => seen.length === index).then(() => peer.faults.silenceSubscriptions())
      await writer.append(stream, index === 0 ? 'none' : BigInt(index - 1), [one])
    }
    await taken
    assert.equal(seen, ids(batch))
  })
}

test('continues reading when the server stops sending during catch-up', async ({ peer, store }) => {
  const stream = newStream()
  const batch = events(200)
  await store.append(stream, 'none', batch)
  peer.faults.messageIntervalMs = 2
  const batches = await take(store.subscribe('start', { prefixes: [stream] }), (taken) => {
    if (taken.length === 1) peer.faults.silenceSubscriptions()
    return taken.at(-1)?.caughtUp === true
  })
  assert.ok(batches[0] !== undefined && batches[0].events.length < batch.length)
  assert.equal(ids(flat(batches)), ids(batch))
})

for (const reports of [true, false]) {
  test(`catches up and continues live on a server that ${reports ? 'reports' : 'does not report'} the end of catch-up`, async ({
    peer,
    store,
  }) => {
    peer.faults.sendsCaughtUp = reports
    const stream = newStream()
    const batch = events(90)
    await store.append(stream, 'none', batch.slice(0, 50))
    for (let other = 0; other < 300; other++) await store.append(newStream('other'), 'none', [event()])
    const follower = await store.subscribe(await store.head())[Symbol.asyncIterator]()
    await follower.next()
    const taken = takeEvents(store.subscribe('start', { prefixes: [stream] }), batch.length)
    for (let next = 50; next < 90; next++) await store.append(stream, BigInt(next - 1), batch.slice(next, next + 1))
    assert.equal(ids(await taken), ids(batch))
    await follower.return?.(undefined)
  })
}

test('catches up even if the server sends no events', async ({ peer, store }) => {
  const stream = newStream()
  const batch = events(30)
  const head = await store.append(stream, 'none', batch)
  peer.faults.silentSubscriptions = true
  const batches = await take(
    store.subscribe('start', { prefixes: [stream] }),
    (taken) => taken.at(-1)?.caughtUp === true,
  )
  assert.equal(ids(batches.flatMap((one) => one.events)), ids(batch))
  assert.equal(batches.at(-1)?.position, head)
})

/** Turns of the event loop in which a server without back-pressure sends more events. */
const TURNS = 20

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise<void>((done) => setImmediate(done))
}

test('applies back-pressure to the server while its subscriber is slow, and delivers everything', async ({
  peer,
  store,
}) => {
  const stream = newStream()
  const text = 'x'.repeat(10_000)
  const batch = events(3000).map((one) => ({ ...one, data: { text } }))
  for (let next = 0; next < batch.length; next += 100) {
    await store.append(stream, next === 0 ? 'none' : BigInt(next - 1), batch.slice(next, next + 100))
  }
  const seen: string[] = []
  let largest = 0
  for await (const { events: passed, caughtUp } of store.subscribe('start', { prefixes: [stream] })) {
    seen.push(...ids(passed))
    largest = Math.max(largest, passed.length)
    // Without back-pressure the server would send more events in this time.
    await turns(TURNS)
    if (caughtUp) break
  }
  assert.equal(seen, ids(batch))
  assert.ok(largest < 2000, `${largest} events were buffered at once`)
  assert.is(peer.log.all.length, 3001)
})

test("skips the server's own events, which the head ignores too", async ({ peer, store }) => {
  const one = event()
  const head = await store.append(newStream(), 'none', [one])
  const own = { id: event().id, type: '$metadata', contentType: 'application/json', data: Buffer.from('{}') }
  for (let count = 0; count < 40; count++)
    peer.log.append('$stats', 'any', [{ ...own, id: event().id, metadata: Buffer.of() }])
  assert.equal(await store.head(), head)
  const batches = await take(store.subscribe('start'), (taken) => taken.at(-1)?.caughtUp === true)
  assert.equal(ids(batches.flatMap((batch) => batch.events)).slice(-1), [one.id])
  assert.is(comparePositions(batches.at(-1)?.position ?? 'start', head), 0)
})

test('starts at the position of any checkpoint', async ({ peer, store }) => {
  const stream = newStream()
  const batch = events(120)
  const follower = store.subscribe(await store.head())[Symbol.asyncIterator]()
  for (const [index, one] of batch.entries()) {
    await store.append(stream, index === 0 ? 'none' : BigInt(index - 1), [one])
    for (let other = 0; other < 40; other++) await store.append(newStream('other'), 'none', [event()])
  }
  await follower.return?.(undefined)
  const seen: string[] = []
  let from: PositionOrStart = 'start'
  for (let restarts = 0; seen.length < batch.length; restarts++) {
    for await (const { events: passed, position } of store.subscribe(from, { prefixes: [stream] })) {
      seen.push(...ids(passed))
      from = position
      if (passed.length > 0 || seen.length === batch.length) break
    }
    if (restarts > 500) break
  }
  assert.equal(seen, ids(batch))
  assert.ok(peer.log.all.length > 4000)
})

test.run()
