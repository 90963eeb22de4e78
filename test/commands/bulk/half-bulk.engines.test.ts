import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { finishBulk } from '../../../src/commands/bulk/handle-bulk.ts'
import {
  changeDiamond,
  changeDiamonds,
  createDiamonds,
  planDelete,
  planPatch,
  type DiamondCommandContext,
} from '../../../src/commands/diamonds/diamonds.ts'
import { IdAllocator } from '../../../src/commands/installation/id-allocator.ts'
import { createCommandContext } from '../../../src/commands/core/handle.ts'
import { RequestError } from '../../../src/domain/decider.ts'
import { createLogger } from '../../../src/runtime/logger.ts'
import { bulkRequestRecovery } from '../../../src/reactions/bulk/bulk-request-recovery.ts'
import { StoreUnavailable, type EventStore, type StoredEvent } from '../../../src/stores/ports/event-store.ts'
import { handlerOf } from '../../projections/engine/start-background-services.ts'
import { openEventStoreDB } from '../../../src/stores/eventstoredb/eventstoredb.ts'
import { all, rejectedWith } from '../../contract/event-store/given.ts'
import { startPeer, type Peer } from '../../eventstoredb/peer/peer.ts'

const origin = { actor: 'account-1', via: 'http', correlation: 'r-1' } as const
const by = { owner: 1, origin }

type Given = {
  peer: Peer
  time: { now: number }
  store: EventStore
  /** A process that dies in the middle of its next bulk, and another one. */
  dying: DiamondCommandContext
  other: DiamondCommandContext
}

const test = suite<Given>('a bulk on a store that can not write it at once')
test.before.each(async (given) => {
  given.peer = await startPeer()
  given.store = openEventStoreDB(given.peer.url)
  given.time = { now: 1_800_000_000_000 }
  given.dying = inventoryOn(halfOf(given.store), given)
  given.other = inventoryOn(given.store, given)
})
test.after.each(async ({ store, peer }) => {
  await store.close()
  await peer.stop()
})

function inventoryOn(store: EventStore, { time }: Pick<Given, 'time'>): DiamondCommandContext {
  const writing = createCommandContext(store, () => time.now)
  return { ...writing, diamondIds: new IdAllocator({ ...writing, kind: 'diamond', size: 1000, origin }) }
}

/** Stores the first half of each bulk, and is gone. */
function halfOf(store: EventStore): EventStore {
  return {
    ...store,
    async appendMany(appends) {
      await store.appendMany(appends.slice(0, appends.length / 2))
      throw new StoreUnavailable('the process died')
    },
  }
}

const entries = (count: number) => Array.from({ length: count }, (_, n) => ({ sku: `S-${n}`, cutShape: 2, carat: 1 }))
const wish = (count: number, key?: string) => ({
  owner: 1,
  origin,
  entries: entries(count),
  ...(key !== undefined && { key: { key, method: 'POST', path: '/v4/diamond/bulk', body: count } }),
})

const eventsOf = ({ store }: Given, prefix: string) => all(store.readAll('start', { prefixes: [prefix] }))
const names = (events: readonly StoredEvent[]) => events.map(({ type }) => type)

/** The streams of requests that were accepted. */
const requests = async (given: Given) => [...new Set((await eventsOf(given, 'request-')).map(({ stream }) => stream))]

const finishing = ({ other }: Given) => handlerOf(bulkRequestRecovery, { writing: other, log: createLogger('silent') })

/** As a process that projects does, `ms` after the last event. */
async function react(given: Given, ms: number): Promise<void> {
  given.time.now += ms
  await finishing(given)(await eventsOf(given, 'request-'))
}

test('is accepted, made and done, in this order', async (given) => {
  const { created, position } = await createDiamonds(given.other, wish(500))
  assert.is(created.length, 500)
  const made = await eventsOf(given, 'diamond-')
  assert.equal(new Set(made.map(({ data }) => data['id'])), new Set(created.map(({ data }) => data.id)))
  const [accepted, done] = [(await eventsOf(given, 'request-'))[0], (await eventsOf(given, 'request-')).at(-1)]
  assert.equal([accepted?.type, done?.type], ['RequestAccepted', 'RequestDone'])
  assert.equal(position, done?.position)
  assert.ok((accepted?.position.commit ?? 0n) < (made[0]?.position.commit ?? 0n))
  await react(given, 60_000)
  assert.is((await eventsOf(given, 'diamond-')).length, 500)
})

test('that stays half is finished after 30 s, with the ids that it was given', async (given) => {
  await rejectedWith(StoreUnavailable, createDiamonds(given.dying, wish(100)))
  assert.is((await eventsOf(given, 'diamond-')).length, 50)
  await react(given, 30_000)
  const made = await eventsOf(given, 'diamond-')
  assert.equal(new Set(made.map(({ data }) => data['id'])), new Set(Array.from({ length: 100 }, (_, n) => n + 1)))
  assert.equal(names(await eventsOf(given, 'request-')), ['RequestAccepted', 'RequestDone'])
})

test('is left to the process that accepted it for 30 s, and a reaction that is stopped leaves it to the next', async (given) => {
  await rejectedWith(StoreUnavailable, createDiamonds(given.dying, wish(10)))
  given.time.now += 29_000
  const stopping = new AbortController()
  const reacting = finishing(given)(await eventsOf(given, 'request-'), stopping.signal)
  setImmediate(() => stopping.abort())
  assert.is((await rejectedWith(Error, reacting)).name, 'AbortError')
  assert.is((await eventsOf(given, 'diamond-')).length, 5)
})

test('under a key is finished by its repeat, which gets the first answer', async (given) => {
  await rejectedWith(StoreUnavailable, createDiamonds(given.dying, wish(20, 'k-1')))
  const { created } = await createDiamonds(given.other, wish(20, 'k-1'))
  assert.equal(
    created.map(({ data }) => data.id),
    Array.from({ length: 20 }, (_, n) => n + 1),
  )
  assert.is((await eventsOf(given, 'diamond-')).length, 20)
  assert.is((await createDiamonds(given.dying, wish(20, 'k-1'))).created.length, 20)
})

test('under a key is refused with another body, also while it is half', async (given) => {
  await rejectedWith(StoreUnavailable, createDiamonds(given.dying, wish(20, 'k-1')))
  const refusal = await rejectedWith(RequestError, createDiamonds(given.other, wish(21, 'k-1')))
  assert.is(refusal.kind, 'invalid')
  assert.is((await eventsOf(given, 'diamond-')).length, 10)
})

test('is made once, however many finish it at the same time', async (given) => {
  await rejectedWith(StoreUnavailable, createDiamonds(given.dying, wish(40)))
  const [stream = ''] = await requests(given)
  const third = inventoryOn(given.store, given)
  await Promise.all([given.other, third, third].map((inventory) => finishBulk(inventory, stream)))
  assert.is((await eventsOf(given, 'diamond-')).length, 40)
  assert.equal(names(await given.store.read(stream)), ['RequestAccepted', 'RequestDone'])
})

test('of changes is finished on top of what others changed meanwhile, and leaves deleted diamonds alone', async (given) => {
  const { created } = await createDiamonds(given.other, wish(4))
  const ids = created.map(({ data }) => data.id)
  const priced = (price: number) => ids.map((id) => planPatch(id, { set: { price }, removed: [] }, by))
  await rejectedWith(StoreUnavailable, changeDiamonds(given.dying, by, priced(7)))
  const [, , third = 0, fourth = 0] = ids
  given.time.now += 5_000
  const patched = planPatch(third, { set: { price: 1, sku: 'NEW' }, removed: [] }, by)
  await changeDiamond(given.other, by, patched)
  await changeDiamond(given.other, by, planDelete(fourth, by))
  await react(given, 30_000)
  const streams = await Promise.all(ids.map((id) => given.store.read(`diamond-${id}`)))
  assert.equal(streams.map(names), [
    ['DiamondCreated', 'DiamondPatched'],
    ['DiamondCreated', 'DiamondPatched'],
    ['DiamondCreated', 'DiamondPatched', 'DiamondPatched'],
    ['DiamondCreated', 'DiamondDeleted'],
  ])
  const times = streams[2]?.map(({ metadata }) => metadata['at'] ?? '') ?? []
  assert.equal(times, times.toSorted())
  assert.equal(streams[2]?.at(-1)?.data, { set: { price: 7 }, removed: [] })
})

test('too large for one event is accepted in parts', async (given) => {
  const sku = 'ж'.repeat(250)
  const large = { owner: 1, origin, entries: entries(800).map((entry) => ({ ...entry, sku })) }
  await rejectedWith(StoreUnavailable, createDiamonds(given.dying, large))
  const [stream = ''] = await requests(given)
  assert.ok((await given.store.read(stream)).length > 1)
  await react(given, 30_000)
  assert.is((await eventsOf(given, 'diamond-')).length, 800)
})

test('of which not all parts were stored was never accepted', async (given) => {
  await rejectedWith(StoreUnavailable, createDiamonds(given.dying, wish(10, 'k-2')))
  const [accepted] = await eventsOf(given, 'request-')
  if (accepted === undefined) throw new Error('nothing was accepted')
  const stream = 'request-parts'
  const { id, type, data, metadata } = accepted
  await given.store.append(stream, 'none', [{ id, type, data: { ...data, parts: 2 }, metadata }])
  assert.is(await finishBulk(given.other, stream), undefined)
})

test('is written at once, without a record, where the store can', async (given) => {
  const { temporaryLog } = await import('../../stores/temporary-log.ts')
  const log = temporaryLog()
  await createDiamonds(inventoryOn(log, given), wish(3))
  assert.equal(await all(log.readAll('start', { prefixes: ['request-'] })), [])
  await log.close()
})

test.run()
