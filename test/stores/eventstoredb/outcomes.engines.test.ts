import * as assert from 'uvu/assert'
import { OutcomeUnknown, StoreUnavailable, WrongRevision } from '../../../src/stores/ports/event-store.ts'
import { event, events, ids, newStream, rejectedWith } from '../../contract/event-store/given.ts'
import type { PeerAppendFault } from '../../eventstoredb/peer/faults.ts'
import { until, waitFor } from '../../until.ts'
import { suiteOnPeer } from './given.ts'

const test = suiteOnPeer('an append to EventStoreDB without a response')

const stored: PeerAppendFault[] = ['timeout, stored', 'silent, stored', 'timeout, lost', 'silent, lost']
for (const fault of stored) {
  test(`(${fault}) succeeds and is stored once`, async ({ peer, store }) => {
    const stream = newStream()
    await store.append(stream, 'none', [event()])
    const batch = events(2)
    peer.faults.appends.push(fault)
    const position = await store.append(stream, 0n, batch)
    const read = await store.readStream(stream)
    assert.equal([ids(read.slice(1)), read.at(-1)?.position], [ids(batch), position])
  })
}

test('is rejected with WrongRevision if another event has its revision', async ({ peer, store, open }) => {
  const stream = newStream()
  await store.append(stream, 'none', [event()])
  const other = open()
  await other.append(stream, 0n, events(3))
  peer.faults.appends.push('timeout, lost')
  const error = await rejectedWith(WrongRevision, store.append(stream, 0n, [event()]))
  assert.equal([error.expected, error.actual], [0n, 3n])
})

test('rejects with OutcomeUnknown when its retries are lost too, and is recognised when repeated later', async ({
  peer,
  store,
}) => {
  const stream = newStream()
  await store.append(newStream(), 'none', [event()])
  const batch = events(2)
  peer.faults.appends.push('late', 'silent, lost')
  await rejectedWith(OutcomeUnknown, store.append(stream, 'none', batch))
  peer.faults.storeLateAppends()
  const position = await store.append(stream, 'none', batch)
  const read = await store.readStream(stream)
  assert.equal([ids(read), read.at(-1)?.position], [ids(batch), position])
})

test('rejects with OutcomeUnknown while the server is silent, and the next one uses a working connection', async ({
  peer,
  store,
}) => {
  const stream = newStream()
  await store.append(newStream(), 'none', [event()])
  peer.faults.silent = true
  const one = event()
  await rejectedWith(OutcomeUnknown, store.append(stream, 'none', [one]))
  peer.faults.silent = false
  await store.append(stream, 'none', [one])
  assert.equal(ids(await store.readStream(stream)), [one.id])
})

test('rejects with StoreUnavailable when the server is down, and nothing is stored', async ({ peer, store }) => {
  const stream = newStream()
  await store.append(newStream(), 'none', [event()])
  await peer.down()
  const one = event()
  const first = await Promise.allSettled([store.append(stream, 'none', [one])])
  assert.is(first[0].status, 'rejected')
  await rejectedWith(StoreUnavailable, store.append(stream, 'none', [one]))
  await peer.up()
  await waitFor(
    'an append',
    retried(() => store.append(stream, 'none', [one])),
  )
  assert.equal(ids(await store.readStream(stream)), [one.id])
})

test('rejects with StoreUnavailable when the server is not ready', async ({ peer, store }) => {
  await store.append(newStream(), 'none', [event()])
  peer.faults.notReady = true
  await rejectedWith(StoreUnavailable, store.append(newStream(), 'none', [event()]))
})

test('in a bulk is stored once, with the right position', async ({ peer, store }) => {
  await store.append(newStream(), 'none', [event()])
  const appends = Array.from({ length: 300 }, () => ({
    stream: newStream(),
    expected: 'none' as const,
    events: events(2),
  }))
  peer.faults.appends.push(...stored, ...stored)
  setImmediate(() => peer.drop())
  const positions = await waitFor(
    'a bulk',
    retried(() => store.appendMany(appends)),
  )
  for (const [index, append] of appends.entries()) {
    const read = await store.readStream(append.stream)
    assert.equal([ids(read), read.at(-1)?.position], [ids(append.events), positions[index]])
  }
})

/** Retries until the store is available, as callers do. */
async function retried<Result>(work: () => Promise<Result>): Promise<Result> {
  let found: { readonly result: Result } | undefined
  await until('the store to be available', async () => {
    try {
      found = { result: await work() }
      return true
    } catch (error) {
      if (!(error instanceof StoreUnavailable || error instanceof OutcomeUnknown)) throw error
      return false
    }
  })
  if (found === undefined) throw new Error('there is no result')
  return found.result
}

test.run()
