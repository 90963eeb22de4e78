import * as assert from 'uvu/assert'
import { OutcomeUnknown, StoreUnavailable, WrongRevision } from '../../../src/stores/ports/event-store.ts'
import { faultyStore } from '../../stores/faulty-store.ts'
import { event, events, ids, newStream, rejectedWith, type Rules } from './given.ts'

export const faultRules: Rules = (test) => {
  test('stores an append once if it times out after it was stored and is repeated', async ({ store }) => {
    const stream = newStream()
    const batch = events(2)
    const faulty = faultyStore(store)
    faulty.failNext('stored')
    await rejectedWith(OutcomeUnknown, faulty.append(stream, 'none', batch))
    const position = await faulty.append(stream, 'none', batch)
    const stored = await store.readStream(stream)
    assert.equal([ids(stored), stored.at(-1)?.position], [ids(batch), position])
  })

  test('stores an append once if it times out, is repeated, and then arrives late', async ({ store }) => {
    const stream = newStream()
    const batch = events(2)
    const faulty = faultyStore(store)
    faulty.failNext('late')
    await rejectedWith(OutcomeUnknown, faulty.append(stream, 'none', batch))
    await faulty.append(stream, 'none', batch)
    assert.equal(await faulty.storeLateAppends(), [undefined])
    assert.equal(ids(await store.readStream(stream)), ids(batch))
  })

  test('rejects a late append if another one has its revision', async ({ store }) => {
    const stream = newStream()
    const faulty = faultyStore(store)
    faulty.failNext('late', 'lost', 'unavailable')
    await rejectedWith(OutcomeUnknown, faulty.append(stream, 'none', [event()]))
    await rejectedWith(OutcomeUnknown, faulty.append(stream, 'none', [event()]))
    await rejectedWith(StoreUnavailable, faulty.append(stream, 'none', [event()]))
    const winner = event()
    await faulty.append(stream, 'none', [winner])
    assert.ok((await faulty.storeLateAppends())[0] instanceof WrongRevision)
    assert.equal(ids(await store.readStream(stream)), [winner.id])
  })
}
