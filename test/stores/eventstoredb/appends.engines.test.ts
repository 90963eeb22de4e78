import * as assert from 'uvu/assert'
import { OutcomeUnknown, StoreUnavailable, WrongRevision } from '../../../src/stores/ports/event-store.ts'
import { all, event, events, ids, newStream, numbers, rejectedWith } from '../../contract/event-store/given.ts'
import { suiteOnPeer } from './given.ts'

const test = suiteOnPeer('appends to EventStoreDB')

const large = (number: number) => ({ ...event(number), data: { number, text: 'x'.repeat(400 * 1024) } })

test('of more than a mebibyte go in several runs, at exact revisions, and are recognised again', async ({ store }) => {
  const stream = newStream()
  const batch = [0, 1, 2, 3, 4].map(large)
  const position = await store.append(stream, 'none', batch)
  assert.equal(numbers(await store.read(stream)), [0, 1, 2, 3, 4])
  assert.equal(await store.append(stream, 'none', batch), position)
  assert.is((await store.read(stream)).length, 5)
})

test('of one event that is too large are refused before anything of them is sent', async ({ peer, store }) => {
  const one = { ...event(), data: { text: 'x'.repeat(1_100_000) } }
  await rejectedWith(TypeError, store.append(newStream(), 'none', [event(), one]))
  assert.ok(peer.log.all.every(({ type }) => type === 'LogCreated'))
})

test('that can not be stored make no log either', async ({ peer, store }) => {
  await rejectedWith(TypeError, store.append('', 'none', [event()]))
  await rejectedWith(TypeError, store.append(newStream(), 'none', [{ ...event(), id: 'no UUID' }]))
  assert.equal(peer.log.all, [])
})

test('to several streams are all tried, though one is refused', async ({ store }) => {
  const [taken, ...others] = [newStream(), newStream(), newStream()]
  await store.append(taken, 'none', [event()])
  const bulk = [taken, ...others].map((stream) => ({ stream, expected: 'none' as const, events: events(2) }))
  const error = await rejectedWith(WrongRevision, store.appendMany(bulk))
  assert.is(error.stream, taken)
  for (const stream of others) assert.is((await store.read(stream)).length, 2)
})

test('of one bulk to one stream keep their order', async ({ store }) => {
  const stream = newStream()
  const bulk = events(20).map((one, index) => ({
    stream,
    expected: index === 0 ? ('none' as const) : BigInt(index - 1),
    events: [one],
  }))
  await store.appendMany(bulk)
  assert.equal(
    ids(await store.read(stream)),
    bulk.flatMap((append) => ids(append.events)),
  )
})

test('of one store go on while another one of the same process is closed', async ({ store, open }) => {
  const other = open()
  await other.append(newStream(), 'none', [event()])
  const appends = Array.from({ length: 200 }, () => store.append(newStream(), 'none', [event()]))
  await other.close()
  assert.is((await Promise.all(appends)).length, 200)
})

test('begin with the identity of the log, whichever of two processes was first', async ({ peer, store, open }) => {
  const other = open()
  await Promise.all([store, other].map((one) => one.append(newStream(), 'none', [event()])))
  assert.equal(
    peer.log.all.map(({ type }) => type),
    ['LogCreated', 'Counted', 'Counted'],
  )
  assert.is(await store.identity(), await other.identity())
})

test("are unavailable on a log that is another application's", async ({ peer, store }) => {
  peer.log.append('log', 'no_stream', [
    { id: event().id, type: 'Other', contentType: 'application/json', data: Buffer.from('{}'), metadata: Buffer.of() },
  ])
  const error = await rejectedWith(StoreUnavailable, store.append(newStream(), 'none', [event()]))
  assert.match(error.message, /does not begin with LogCreated/)
})

test('in order are on their way together: none waits for the answer to another', async ({ peer, store }) => {
  await store.append(newStream(), 'none', [event()])
  peer.faults.answersTogether = 100
  const appends = Array.from({ length: 200 }, (_, index) => ({
    stream: newStream(),
    expected: 'none' as const,
    events: [event(index)],
  }))
  assert.is((await store.appendMany(appends, 'kept')).length, appends.length)
})

test('in order keeps the order, whenever the connection ends and the same is asked once more', async ({
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
  const whenever = setInterval(() => {
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
  clearInterval(whenever)
  const stored = await all(store.readAll(from, { prefixes: streams }))
  assert.equal(
    numbers(stored),
    Array.from({ length: appends.length }, (_, index) => index),
  )
})

test.run()
