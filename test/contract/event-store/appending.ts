import * as assert from 'uvu/assert'
import { comparePositions, WrongRevision, type Revision } from '../../../src/stores/ports/event-store.ts'
import { all, event, events, ids, metadata, newStream, numbers, rejectedWith, type Rules } from './given.ts'

export const appendingRules: Rules = (test) => {
  test('in order keeps the order over all streams, and completes what was half done', async ({ store }) => {
    const streams = Array.from({ length: 7 }, () => newStream())
    const appends = Array.from({ length: 400 }, (_, index) => {
      const revision = Math.floor(index / streams.length)
      const expected = revision === 0 ? ('none' as const) : BigInt(revision - 1)
      return { stream: streams[index % streams.length] ?? '', expected, events: [event(index)] }
    })
    const from = await store.head()
    const half = await store.appendMany(appends.slice(0, 150), 'kept')
    const positions = await store.appendMany(appends, 'kept')
    assert.equal(positions.slice(0, 150), half)
    const stored = await all(store.readAll(from, { prefixes: streams }))
    assert.equal(
      numbers(stored),
      Array.from({ length: appends.length }, (_, index) => index),
    )
    assert.equal(
      stored.map(({ position }) => position),
      positions,
    )
    const wrong = appends.slice(0, 2).map((append) => ({ ...append, events: [event()] }))
    await rejectedWith(WrongRevision, store.appendMany(wrong, 'kept'))
    assert.equal(await store.appendMany([], 'kept'), [])
  })

  test('counts the revisions of a stream from 0, in order and without gaps', async ({ store }) => {
    const stream = newStream()
    await store.append(stream, 'none', events(2))
    await store.append(stream, 1n, events(3))
    const stored = await store.read(stream)
    assert.equal(
      stored.map(({ revision }) => revision),
      [0n, 1n, 2n, 3n, 4n],
    )
    assert.equal(numbers(stored), [0, 1, 0, 1, 2])
  })

  const wrong: [rule: string, stored: number, expected: Revision, actual: Revision][] = [
    ['none, of a stream that exists', 2, 'none', 1n],
    ['too low', 3, 1n, 2n],
    ['too high', 2, 2n, 1n],
    ['far too high', 2, 10n, 1n],
    ['0, of a stream that is missing', 0, 0n, 'none'],
    ['5, of a stream that is missing', 0, 5n, 'none'],
  ]
  for (const [rule, count, expected, actual] of wrong) {
    test(`refuses an expected revision that is ${rule}, and stores nothing`, async ({ store }) => {
      const stream = newStream()
      if (count > 0) await store.append(stream, 'none', events(count))
      const error = await rejectedWith(WrongRevision, store.append(stream, expected, events(2)))
      assert.equal([error.stream, error.expected, error.actual], [stream, expected, actual])
      assert.is((await store.read(stream)).length, count)
    })
  }

  test('answers with the position of the last event, which is the head then', async ({ store }) => {
    const stream = newStream()
    const position = await store.append(stream, 'none', events(3))
    assert.equal((await store.read(stream)).at(-1)?.position, position)
    assert.equal(await store.head(), position)
  })

  test('gives later appends greater positions', async ({ store }) => {
    const first = await store.append(newStream(), 'none', events(2))
    const second = await store.append(newStream(), 'none', [event()])
    assert.ok(comparePositions(first, second) < 0)
  })

  test('lets one of 20 parallel appends at one revision win', async ({ store }) => {
    const stream = newStream()
    await store.append(stream, 'none', [event(-1)])
    const outcomes = await Promise.allSettled(events(20).map((one) => store.append(stream, 0n, [one])))
    const lost = outcomes.filter((outcome) => outcome.status === 'rejected')
    assert.is(lost.length, 19)
    assert.ok(lost.every(({ reason }) => reason instanceof WrongRevision && reason.actual === 1n))
    assert.equal(numbers(await store.read(stream)), [-1, outcomes.findIndex(({ status }) => status === 'fulfilled')])
  })

  test('answers a repeated append as it did the first time, and stores it once', async ({ store }) => {
    const stream = newStream()
    const batch = events(3)
    const first = await store.append(stream, 'none', batch)
    assert.equal(await store.append(stream, 'none', batch), first)
    assert.equal(ids(await store.read(stream)), ids(batch))
  })

  test('recognises a repeated append when the stream has moved on', async ({ store }) => {
    const stream = newStream()
    const batch = events(2)
    await store.append(stream, 'none', [event()])
    const first = await store.append(stream, 0n, batch)
    await store.append(stream, 2n, [event()])
    assert.equal(await store.append(stream, 0n, batch), first)
    assert.is((await store.read(stream)).length, 4)
  })

  test('recognises an append that is repeated while the first one is under way', async ({ store }) => {
    const stream = newStream()
    const batch = events(2)
    const [first, second] = await Promise.all([
      store.append(stream, 'none', batch),
      store.append(stream, 'none', batch),
    ])
    assert.equal(first, second)
    assert.is((await store.read(stream)).length, 2)
  })

  test('refuses an append of which only a part was stored before', async ({ store }) => {
    const stream = newStream()
    const [first = event(), second = event()] = events(2)
    await store.append(stream, 'none', [first])
    await rejectedWith(WrongRevision, store.append(stream, 'none', [first, second]))
    assert.equal(ids(await store.read(stream)), [first.id])
  })

  test('refuses the same events in another order', async ({ store }) => {
    const stream = newStream()
    const batch = events(2)
    await store.append(stream, 'none', batch)
    await rejectedWith(WrongRevision, store.append(stream, 'none', batch.toReversed()))
  })

  const malformed: [rule: string, stream: string, faults: object, message: RegExp][] = [
    ['whose id is no UUID', newStream(), { id: 'e-1' }, /UUID.*e-1/],
    ['without a type', newStream(), { type: '' }, /type/],
    ['for a stream without a name', '', {}, /stream/],
    ['whose data has no JSON', newStream(), { data: { amount: 1n } }, /data of Counted/],
    ['whose metadata is no text', newStream(), { metadata: { ...metadata, schema: 1 } }, /schema/],
  ]
  for (const [rule, stream, faults, message] of malformed) {
    test(`refuses an event ${rule} before anything is written`, async ({ store }) => {
      const before = await store.head()
      const error = await rejectedWith(TypeError, store.append(stream, 'none', [event(), { ...event(), ...faults }]))
      assert.match(error.message, message)
      assert.equal(await store.head(), before)
    })
  }

  test('refuses an append without events', async ({ store }) => {
    await rejectedWith(TypeError, store.append(newStream(), 'none', []))
  })

  test('answers as many appends as were made, in their order', async ({ store }) => {
    const streams = [newStream(), newStream(), newStream()]
    const appends = streams.map((stream) => ({ stream, expected: 'none' as const, events: events(2) }))
    const positions = await store.appendMany(appends)
    const last = await Promise.all(streams.map(async (stream) => (await store.read(stream)).at(-1)?.position))
    assert.equal(positions, last)
    assert.equal(await store.appendMany(appends), positions)
    assert.equal(await store.appendMany([]), [])
  })

  test('completes a half-stored bulk when it is repeated', async ({ store }) => {
    const appends = [0, 1].map((number) => ({
      stream: newStream(),
      expected: 'none' as const,
      events: [event(number)],
    }))
    const half = await Promise.all(appends.slice(0, 1).map((one) => store.append(one.stream, one.expected, one.events)))
    const positions = await store.appendMany(appends)
    assert.equal(positions[0], half[0])
    for (const { stream } of appends) assert.is((await store.read(stream)).length, 1)
  })
}
