import * as assert from 'uvu/assert'
import { all, event, events, ids, newStream, numbers, type Rules } from './given.ts'

export const readingRules: Rules = (test) => {
  test('reads nothing from a stream that does not exist', async ({ store }) => {
    assert.equal(await store.readStream(newStream()), [])
  })

  test('returns an event as it was appended', async ({ store }) => {
    const stream = newStream()
    const one = event(7)
    const position = await store.append(stream, 'none', [one])
    assert.equal(await store.readStream(stream), [{ ...one, stream, revision: 0n, position }])
  })

  test('preserves empty data and metadata, nested values, null and any Unicode text', async ({ store }) => {
    const stream = `rule-кольцо 💎-${newStream()}`
    const data = { text: 'é\u0000"\\\u2028 💎', list: [1, [], {}, null, 0.1], nested: { '': true }, '💎': 1e21 }
    const batch = [
      { ...event(), data: {}, metadata: {} },
      { ...event(), type: 'Größe 大', data, metadata: { actor: 'Žofie\n', empty: '' } },
    ]
    await store.append(stream, 'none', batch)
    const stored = await store.readStream(stream)
    assert.equal(
      stored.map(({ id, type, data: read, metadata: meta }) => ({ id, type, data: read, metadata: meta })),
      batch,
    )
  })

  test('returns data as JSON represents it', async ({ store }) => {
    const stream = newStream()
    const data = { gone: undefined, none: Number.NaN, zero: -0, at: new Date(0), list: [undefined] }
    await store.append(stream, 'none', [{ ...event(), data }])
    const expected = { none: null, zero: 0, at: '1970-01-01T00:00:00.000Z', list: [null] }
    assert.equal((await store.readStream(stream))[0]?.data, expected)
  })

  test("reads a stream's newest events, oldest first", async ({ store }) => {
    const stream = newStream()
    await store.append(stream, 'none', events(5))
    assert.equal(numbers(await store.readStream(stream, { last: 2 })), [3, 4])
    assert.equal(numbers(await store.readStream(stream, { last: 9 })), [0, 1, 2, 3, 4])
  })

  test('reads all events after a position, which is exclusive', async ({ store }) => {
    const from = await store.append(newStream(), 'none', [event()])
    const streams = [newStream(), newStream()]
    for (const [number, stream] of streams.entries()) await store.append(stream, 'none', [event(number), event(number)])
    const read = (await all(store.readAll(from))).filter(({ stream }) => streams.includes(stream))
    assert.equal(numbers(read), [0, 0, 1, 1])
    const rest = await all(store.readAll(read[1]?.position ?? 'start', { prefixes: streams }))
    assert.equal(ids(rest), ids(read.slice(2)))
  })

  test('reads only streams that start with a prefix of the filter', async ({ store }) => {
    const [ring, stone, other] = [newStream('ring'), newStream('stone'), newStream('ringlike')]
    const from = await store.head()
    for (const stream of [ring, other, stone]) await store.append(stream, 'none', [event()])
    const read = await all(store.readAll(from, { prefixes: ['ring-', 'stone-'] }))
    assert.equal(
      read.map(({ stream }) => stream).filter((stream) => [ring, stone, other].includes(stream)),
      [ring, stone],
    )
    assert.equal(await all(store.readAll(from, { prefixes: [newStream()] })), [])
  })

  test('reads several pages without a gap', async ({ store }) => {
    const stream = newStream()
    const from = await store.head()
    const batch = events(2300)
    for (let start = 0; start < batch.length; start += 460) {
      const expected = start === 0 ? 'none' : BigInt(start - 1)
      await store.append(stream, expected, batch.slice(start, start + 460))
    }
    assert.equal(ids(await all(store.readAll(from, { prefixes: [stream] }))), ids(batch))
    assert.equal(ids(await store.readStream(stream)), ids(batch))
  })

  test('returns the event at a position, and none after the head', async ({ store }) => {
    const stream = newStream()
    const first = await store.append(stream, 'none', [event(1)])
    const second = await store.append(stream, 0n, [event(2)])
    assert.equal(await store.eventAt(first), (await store.readStream(stream))[0])
    const beyond = { commit: second.commit + 1_000_000n, prepare: second.prepare + 1_000_000n }
    assert.is(await store.eventAt(beyond), undefined)
  })

  test('has an identity that never changes', async ({ store }) => {
    const identity = await store.identity()
    assert.match(identity, /^[0-9a-f-]{36}$/)
    await store.append(newStream(), 'none', [event()])
    assert.is(await store.identity(), identity)
  })
}
