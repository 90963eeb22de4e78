import * as assert from 'uvu/assert'
import { WrongRevision, type Append } from '../../../src/stores/ports/event-store.ts'
import { event, events, newStream, numbers, rejectedWith, type Rules } from './given.ts'

/** For stores whose appendMany is one transaction. */
export const appendManyRules: Rules = (test) => {
  test('stores nothing of a bulk when one append of it fails', async ({ store }) => {
    const taken = newStream()
    await store.append(taken, 'none', [event()])
    const streams = [newStream(), taken, newStream()]
    const before = await store.head()
    const bulk = streams.map((stream): Append => ({ stream, expected: 'none', events: events(2) }))
    const error = await rejectedWith(WrongRevision, store.appendMany(bulk))
    assert.is(error.stream, taken)
    assert.equal(await store.head(), before)
    for (const stream of [streams[0], streams[2]]) assert.equal(await store.readStream(stream ?? ''), [])
  })

  test('stores concurrent appends even if a bulk fails', async ({ store }) => {
    const [taken, earlier, later] = [newStream(), newStream(), newStream()]
    await store.append(taken, 'none', [event()])
    const bulk: Append[] = [
      { stream: newStream(), expected: 'none', events: [event()] },
      { stream: taken, expected: 'none', events: [event()] },
    ]
    const outcomes = await Promise.allSettled([
      store.append(earlier, 'none', [event(1)]),
      store.appendMany(bulk),
      store.append(later, 'none', [event(2)]),
    ])
    assert.equal(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assert.equal(numbers([...(await store.readStream(earlier)), ...(await store.readStream(later))]), [1, 2])
  })

  test('accepts a bulk that appends twice to one stream', async ({ store }) => {
    const stream = newStream()
    const bulk: Append[] = [
      { stream, expected: 'none', events: [event(1)] },
      { stream, expected: 0n, events: [event(2)] },
    ]
    const positions = await store.appendMany(bulk)
    assert.equal(numbers(await store.readStream(stream)), [1, 2])
    assert.equal(await store.appendMany(bulk), positions)
  })
}
