import * as assert from 'uvu/assert'
import { comparePositions, WrongRevision, type Revision } from '../../../src/stores/ports/event-store.ts'
import { all, event, events, ids, metadata, newStream, numbers, rejectedWith, type Rules } from './given.ts'

export const appendingRules: Rules = (test) => {
  test('keeps the order of an ordered bulk across streams, and completes a half-stored one', async ({ store }) => {
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

  test('numbers the revisions of a stream from 0, in order and without gaps', async ({ store }) => {
    const stream = newStream()
    await store.append(stream, 'none', events(2))
    await store.append(stream, 1n, events(3))
    const stored = await store.readStream(stream)
    assert.equal(
      stored.map(({ revision }) => revision),
      [0n, 1n, 2n, 3n, 4n],
    )
    assert.equal(numbers(stored), [0, 1, 0, 1, 2])
  })

  const wrong: [rule: string, stored: number, expected: Revision, actual: Revision][] = [
    ['none for an existing stream', 2, 'none', 1n],
    ['too low', 3, 1n, 2n],
    ['too high', 2, 2n, 1n],
    ['far too high', 2, 10n, 1n],
    ['0 for a missing stream', 0, 0n, 'none'],
    ['5 for a missing stream', 0, 5n, 'none'],
  ]
  for (const [rule, count, expected, actual] of wrong) {
    test(`rejects an expected revision that is ${rule}, and stores nothing`, async ({ store }) => {
      const stream = newStream()
      if (count > 0) await store.append(stream, 'none', events(count))
      const error = await rejectedWith(WrongRevision, store.append(stream, expected, events(2)))
      assert.equal([error.stream, error.expected, error.actual], [stream, expected, actual])
      assert.is((await store.readStream(stream)).length, count)
    })
  }

  test('returns the position of the last appended event, which is the new head', async ({ store }) => {
    const stream = newStream()
    const position = await store.append(stream, 'none', events(3))
    assert.equal((await store.readStream(stream)).at(-1)?.position, position)
    assert.equal(await store.head(), position)
  })

  test('assigns later appends greater positions', async ({ store }) => {
    const first = await store.append(newStream(), 'none', events(2))
    const second = await store.append(newStream(), 'none', [event()])
    assert.ok(comparePositions(first, second) < 0)
  })

  test('accepts exactly one of 20 parallel appends at the same expected revision', async ({ store }) => {
    const stream = newStream()
    await store.append(stream, 'none', [event(-1)])
    const outcomes = await Promise.allSettled(events(20).map((one) => store.append(stream, 0n, [one])))
    const lost = outcomes.filter((outcome) => outcome.status === 'rejected')
    assert.is(lost.length, 19)
    assert.ok(lost.every(({ reason }) => reason instanceof WrongRevision && reason.actual === 1n))
    assert.equal(numbers(await store.readStream(stream)), [
      -1,
      outcomes.findIndex(({ status }) => status === 'fulfilled'),
    ])
  })

  test('returns the original position for a repeated append, and stores it once', async ({ store }) => {
    const stream = newStream()
    const batch = events(3)
    const first = await store.append(stream, 'none', batch)
    assert.equal(await store.append(stream, 'none', batch), first)
    assert.equal(ids(await store.readStream(stream)), ids(batch))
  })

  test('recognises a repeated append after later appends to the stream', async ({ store }) => {
    const stream = newStream()
    const batch = events(2)
    await store.append(stream, 'none', [event()])
    const first = await store.append(stream, 0n, batch)
    await store.append(stream, 2n, [event()])
    assert.equal(await store.append(stream, 0n, batch), first)
    assert.is((await store.readStream(stream)).length, 4)
  })

  test('recognises an append that is repeated while the first one is in progress', async ({ store }) => {
    const stream = newStream()
    const batch = events(2)
    const [first, second] = await Promise.all([
      store.append(stream, 'none', batch),
      store.append(stream, 'none', batch),
    ])
    assert.equal(first, second)
    assert.is((await store.readStream(stream)).length, 2)
  })

  test('rejects an append of which only a part was stored before', async ({ store }) => {
    const stream = newStream()
    const [first = event(), second = event()] = events(2)
    await store.append(stream, 'none', [first])
    await rejectedWith(WrongRevision, store.append(stream, 'none', [first, second]))
    assert.equal(ids(await store.readStream(stream)), [first.id])
  })

  test('rejects the same events in another order', async ({ store }) => {
    const stream = newStream()
    const batch = events(2)
    await store.append(stream, 'none', batch)
    await rejectedWith(WrongRevision, store.append(stream, 'none', batch.toReversed()))
  })

  const malformed: [rule: string, stream: string, faults: object, message: RegExp][] = [
    ['whose id is not a UUID', newStream(), { id: 'e-1' }, /UUID.*e-1/],
    ['without a type', newStream(), { type: '' }, /type/],
    ['for a stream without a name', '', {}, /stream/],
    ['whose data cannot be written as JSON', newStream(), { data: { amount: 1n } }, /data of Counted/],
    [
      'whose metadata has a value that is not a string',
      newStream(),
      { metadata: { ...metadata, schema: 1 } },
      /schema/,
    ],
  ]
  for (const [rule, stream, faults, message] of malformed) {
    test(`rejects an event ${rule} before anything is stored`, async ({ store }) => {
      const before = await store.head()
      const error = await rejectedWith(TypeError, store.append(stream, 'none', [event(), { ...event(), ...faults }]))
      assert.match(error.message, message)
      assert.equal(await store.head(), before)
    })
  }

  test('rejects an append without events', async ({ store }) => {
    await rejectedWith(TypeError, store.append(newStream(), 'none', []))
  })

  test('returns the positions of a bulk in the order of its appends', async ({ store }) => {
    const streams = [newStream(), newStream(), newStream()]
    const appends = streams.map((stream) => ({ stream, expected: 'none' as const, events: events(2) }))
    const positions = await store.appendMany(appends)
    const last = await Promise.all(streams.map(async (stream) => (await store.readStream(stream)).at(-1)?.position))
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
    for (const { stream } of appends) assert.is((await store.readStream(stream)).length, 1)
  })
}
