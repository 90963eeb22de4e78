import * as assert from 'uvu/assert'
import type { PositionOrStart, StoredEvent } from '../../../src/stores/ports/event-store.ts'
import { comparePositions } from '../../../src/stores/ports/event-store.ts'
import { collectGarbage } from '../../garbage.ts'
import { until, waitFor } from '../../until.ts'
import { all, event, events, flat, ids, newStream, take, takeEvents, type Rules } from './given.ts'

export const subscribingRules: Rules = (test) => {
  test('delivers past events, then new ones, in order and once', async ({ store }) => {
    const stream = newStream()
    const batch = events(60)
    const from = await store.head()
    await store.append(stream, 'none', batch.slice(0, 30))
    const taken = takeEvents(store.subscribe(from, { prefixes: [stream] }), 60)
    for (let next = 30; next < 60; next++) {
      await store.append(stream, BigInt(next - 1), batch.slice(next, next + 1))
    }
    assert.equal(ids(await taken), ids(batch))
  })

  test('frees the memory of subscriptions that were stopped or whose reader left', async ({ store }) => {
    const kept: WeakRef<object>[] = []
    for (let count = 0; count < 100; count++) {
      const subscription = store.subscribe('start')
      kept.push(new WeakRef(subscription))
      for await (const batch of subscription) {
        if (count % 2 === 0) subscription.stop()
        else if (batch !== undefined) break
      }
    }
    // The stack may still refer to the last one.
    await until('subscriptions to leave memory', async () => {
      await collectGarbage()
      return kept.filter((one) => one.deref() !== undefined).length <= 1
    })
  })

  test('delivers the same events, live or during catch-up, as reads return', async ({ store }) => {
    const stream = newStream()
    const from = await store.head()
    const odd = { gone: undefined, list: [undefined, -0], at: new Date(0), text: '💎' }
    const live = store.subscribe(from, { prefixes: [stream] })
    const taken = takeEvents(live, 2)
    await store.append(stream, 'none', [event(1), { ...event(), id: event().id.toUpperCase(), data: odd }])
    const read = await store.readStream(stream)
    assert.equal(await taken, read)
    assert.equal(await takeEvents(store.subscribe(from, { prefixes: [stream] }), 2), read)
    assert.equal(await all(store.readAll(from, { prefixes: [stream] })), read)
  })

  test('delivers only streams that match the filter', async ({ store }) => {
    const [wanted, other] = [newStream('wanted'), newStream('other')]
    const from = await store.head()
    const taken = takeEvents(store.subscribe(from, { prefixes: [wanted] }), 2)
    await store.append(other, 'none', [event()])
    await store.append(wanted, 'none', events(2))
    assert.equal(
      (await taken).map(({ stream }) => stream),
      [wanted, wanted],
    )
  })

  test('misses and repeats nothing when a subscription resumes from any position', async ({ store }) => {
    const streams = [newStream('resumed'), newStream('resumed')]
    const filter = { prefixes: streams }
    const from = await store.head()
    for (const stream of streams) await store.append(stream, 'none', events(4))
    const whole = await takeEvents(store.subscribe(from, filter), 8)
    for (const [index, { position }] of whole.slice(0, -1).entries()) {
      const rest = await takeEvents(store.subscribe(position, filter), whole.length - index - 1)
      assert.equal(ids(rest), ids(whole.slice(index + 1)))
    }
  })

  test('lets a subscription resume from the position of any batch', async ({ store }) => {
    const stream = newStream()
    const filter = { prefixes: [stream] }
    const batch = events(40)
    const seen: StoredEvent[] = []
    let from: PositionOrStart = await store.head()
    for (let next = 0; next < 40; next += 4) {
      await store.append(stream, next === 0 ? 'none' : BigInt(next - 1), batch.slice(next, next + 4))
      const batches = await take(store.subscribe(from, filter), (taken) => flat(taken).length >= 4)
      seen.push(...flat(batches))
      from = batches.at(-1)?.position ?? from
    }
    assert.equal(ids(seen), ids(batch))
  })

  test('advances the position of a subscription past events that do not match its filter', async ({ store }) => {
    const from = await store.head()
    const head = await store.append(newStream(), 'none', events(3))
    const batches = await take(store.subscribe(from, { prefixes: [newStream('absent')] }), (taken) => {
      const last = taken.at(-1)
      return last !== undefined && comparePositions(last.position, head) >= 0
    })
    assert.equal(flat(batches), [])
  })

  test('names as the last event of a batch the event at its position', async ({ store }) => {
    const from = await store.head()
    const [one, other] = [newStream('one'), newStream('other')]
    const subscription = store.subscribe(from, { prefixes: [one] })
    const appending = (async () => {
      for (const stream of [one, other, one, other]) await store.append(newStream(stream), 'none', events(3))
    })()
    const batches = await take(subscription, (taken) => flat(taken).length >= 6)
    await appending
    for (const { position, last } of batches) {
      if (last === undefined || position === 'start') continue
      assert.equal(last.position, position)
      assert.is((await store.eventAt(position))?.id, last.id)
    }
  })

  test('reports a subscription as caught up immediately if there are no later events', async ({ store }) => {
    const from = await store.append(newStream(), 'none', events(3))
    const [first] = await take(store.subscribe(from), () => true)
    assert.equal(first, { events: [], position: from, caughtUp: true })
  })

  test('reports a subscription as caught up when it has reached the head', async ({ store }) => {
    const from = await store.head()
    const stream = newStream()
    const head = await store.append(stream, 'none', events(3))
    const batches = await take(store.subscribe(from), (taken) => taken.at(-1)?.caughtUp === true)
    assert.ok(comparePositions(batches.at(-1)?.position ?? 'start', head) >= 0)
    assert.ok(flat(batches).some((stored) => stored.stream === stream))
  })

  test('delivers the same events to two subscribers', async ({ store }) => {
    const stream = newStream()
    const from = await store.head()
    const filter = { prefixes: [stream] }
    const taken = [store.subscribe(from, filter), store.subscribe(from, filter)].map((one) => takeEvents(one, 10))
    const batch = events(10)
    await store.append(stream, 'none', batch.slice(0, 5))
    await store.append(stream, 4n, batch.slice(5))
    for (const one of await Promise.all(taken)) assert.equal(ids(one), ids(batch))
  })

  test('delivers everything in order to a slow subscriber', async ({ store }) => {
    const stream = newStream()
    const batch = events(8000)
    const from = await store.head()
    const seen: string[] = []
    const subscription = store.subscribe(from, { prefixes: [stream] })
    const slow = (async () => {
      let written = 0
      for await (const { events: passed } of subscription) {
        seen.push(...ids(passed))
        // Appends more events than any cache of the newest holds while this batch is being handled.
        for (let end = Math.min(written + 4000, batch.length); written < end; written += 400) {
          const expected = written === 0 ? 'none' : BigInt(written - 1)
          await store.append(stream, expected, batch.slice(written, written + 400))
        }
        if (seen.length >= batch.length) subscription.stop()
      }
    })()
    await waitFor('8000 events', slow)
    assert.equal(seen, ids(batch))
  })

  test('continues past pages without a matching event, even if no further append follows', async ({ store }) => {
    const [wanted, others] = [newStream('wanted'), newStream('other')]
    const batch = events(2)
    const from = await store.head()
    const subscription = store.subscribe(from, { prefixes: [wanted] })
    const seen: string[] = []
    const busy = async () => {
      for await (const { events: passed, caughtUp } of subscription) {
        if (passed.length > 0 && seen.length === 0) {
          // While this batch is handled, appends more other events than a page holds, then one that matches.
          for (let next = 0; next < 3500; next += 500) {
            await store.append(others, next === 0 ? 'none' : BigInt(next - 1), events(500))
          }
          const end = await store.append(wanted, 0n, batch.slice(1))
          await take(store.subscribe(from), (taken) => comparePositions(taken.at(-1)?.position ?? 'start', end) >= 0)
        }
        seen.push(...ids(passed))
        if (caughtUp && seen.length === batch.length) subscription.stop()
      }
    }
    const taken = busy()
    await store.append(wanted, 'none', batch.slice(0, 1))
    await waitFor('the event after the others', taken)
    assert.equal(seen, ids(batch))
  })

  test('ends a waiting subscription when it is stopped', async ({ store }) => {
    const subscription = store.subscribe(await store.head())
    const ended = take(subscription, () => false)
    setImmediate(() => subscription.stop())
    assert.equal(flat(await ended), [])
  })

  test('ends a subscription after the current batch when it is stopped', async ({ store }) => {
    const stream = newStream()
    const from = await store.head()
    await store.append(stream, 'none', events(2500))
    const batches = await take(store.subscribe(from, { prefixes: [stream] }), (taken) => flat(taken).length > 0)
    assert.is(batches.filter((batch) => batch.events.length > 0).length, 1)
  })

  test('ends its subscriptions when it is closed', async ({ store }) => {
    const ended = take(store.subscribe(await store.head()), () => false)
    await store.close()
    assert.equal(flat(await ended), [])
  })
}
