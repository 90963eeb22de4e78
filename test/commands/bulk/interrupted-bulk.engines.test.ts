import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { finishBulk } from '../../../src/commands/bulk/accepted-bulk.ts'
import {
  changeDiamond,
  changeDiamonds,
  createDiamonds,
  planDelete,
  planPatch,
  type DiamondCommandContext,
} from '../../../src/commands/diamonds/diamonds.ts'
import { IdAllocator } from '../../../src/commands/installation/id-allocator.ts'
import { createCommandContext } from '../../../src/commands/core/command-context.ts'
import { RequestError } from '../../../src/domain/request-error.ts'
import { createLogger } from '../../../src/runtime/logger.ts'
import { bulkRequestRecovery } from '../../../src/reactions/bulk/bulk-request-recovery.ts'
import { StoreUnavailable, type EventStore, type StoredEvent } from '../../../src/stores/ports/event-store.ts'
import { handlerOf } from '../../projections/engine/start-background-services.ts'
import { openEventStoreDB } from '../../../src/stores/eventstoredb/eventstoredb.ts'
import { all, rejectedWith } from '../../contract/event-store/given.ts'
import { startPeer, type Peer } from '../../eventstoredb/peer/peer.ts'

const origin = { actor: 'account-1', via: 'http', correlation: 'r-1' } as const
const principal = { owner: 1, origin }

type Given = {
  peer: Peer
  time: { now: number }
  store: EventStore
  /** A process that crashes in the middle of its next bulk, and another process. */
  crashing: DiamondCommandContext
  other: DiamondCommandContext
}

const test = suite<Given>('a bulk on a store without atomic multi-stream appends')
test.before.each(async (given) => {
  given.peer = await startPeer()
  given.store = openEventStoreDB(given.peer.url)
  given.time = { now: 1_800_000_000_000 }
  given.crashing = inventoryOn(crashingHalfway(given.store), given)
  given.other = inventoryOn(given.store, given)
})
test.after.each(async ({ store, peer }) => {
  await store.close()
  await peer.stop()
})

function inventoryOn(store: EventStore, { time }: Pick<Given, 'time'>): DiamondCommandContext {
  const context = createCommandContext(store, () => time.now)
  return { ...context, diamondIds: new IdAllocator({ ...context, kind: 'diamond', size: 1000, origin }) }
}

/** Stores the first half of each bulk and fails. */
function crashingHalfway(store: EventStore): EventStore {
  return {
    ...store,
    async appendMany(appends) {
      await store.appendMany(appends.slice(0, appends.length / 2))
      throw new StoreUnavailable('the process died')
    },
  }
}

const entries = (count: number) => Array.from({ length: count }, (_, n) => ({ sku: `S-${n}`, cutShape: 2, carat: 1 }))
const newDiamonds = (count: number, key?: string) => ({
  owner: 1,
  origin,
  entries: entries(count),
  ...(key !== undefined && { key: { key, method: 'POST', path: '/v4/diamond/bulk', body: count } }),
})

const eventsOf = ({ store }: Given, prefix: string) => all(store.readAll('start', { prefixes: [prefix] }))
const names = (events: readonly StoredEvent[]) => events.map(({ type }) => type)

/** The streams of accepted bulk requests. */
const requests = async (given: Given) => [...new Set((await eventsOf(given, 'request-')).map(({ stream }) => stream))]

const finishing = ({ other }: Given) => handlerOf(bulkRequestRecovery, { context: other, log: createLogger('silent') })

/** Runs the recovery reaction `ms` milliseconds later, as the process that runs the projections does. */
async function react(given: Given, ms: number): Promise<void> {
  given.time.now += ms
  await finishing(given)(await eventsOf(given, 'request-'))
}

test('is accepted, executed and marked done, in this order', async (given) => {
  const { created, position } = await createDiamonds(given.other, newDiamonds(500))
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

test('that stays incomplete is finished after 30 s, with the ids reserved for it', async (given) => {
  await rejectedWith(StoreUnavailable, createDiamonds(given.crashing, newDiamonds(100)))
  assert.is((await eventsOf(given, 'diamond-')).length, 50)
  await react(given, 30_000)
  const made = await eventsOf(given, 'diamond-')
  assert.equal(new Set(made.map(({ data }) => data['id'])), new Set(Array.from({ length: 100 }, (_, n) => n + 1)))
  assert.equal(names(await eventsOf(given, 'request-')), ['RequestAccepted', 'RequestDone'])
})

test('belongs to the process that accepted it for 30 s, and an aborted recovery leaves it to the next one', async (given) => {
  await rejectedWith(StoreUnavailable, createDiamonds(given.crashing, newDiamonds(10)))
  given.time.now += 29_000
  const stopping = new AbortController()
  const reacting = finishing(given)(await eventsOf(given, 'request-'), stopping.signal)
  setImmediate(() => stopping.abort())
  assert.is((await rejectedWith(Error, reacting)).name, 'AbortError')
  assert.is((await eventsOf(given, 'diamond-')).length, 5)
})

test('with an idempotency key is finished by its retry, which gets the original response', async (given) => {
  await rejectedWith(StoreUnavailable, createDiamonds(given.crashing, newDiamonds(20, 'k-1')))
  const { created } = await createDiamonds(given.other, newDiamonds(20, 'k-1'))
  assert.equal(
    created.map(({ data }) => data.id),
    Array.from({ length: 20 }, (_, n) => n + 1),
  )
  assert.is((await eventsOf(given, 'diamond-')).length, 20)
  assert.is((await createDiamonds(given.crashing, newDiamonds(20, 'k-1'))).created.length, 20)
})

test('with an idempotency key is refused with another body, even while it is incomplete', async (given) => {
  await rejectedWith(StoreUnavailable, createDiamonds(given.crashing, newDiamonds(20, 'k-1')))
  const refusal = await rejectedWith(RequestError, createDiamonds(given.other, newDiamonds(21, 'k-1')))
  assert.is(refusal.kind, 'invalid')
  assert.is((await eventsOf(given, 'diamond-')).length, 10)
})

test('is executed once, however many processes finish it concurrently', async (given) => {
  await rejectedWith(StoreUnavailable, createDiamonds(given.crashing, newDiamonds(40)))
  const [stream = ''] = await requests(given)
  const third = inventoryOn(given.store, given)
  await Promise.all([given.other, third, third].map((inventory) => finishBulk(inventory, stream)))
  assert.is((await eventsOf(given, 'diamond-')).length, 40)
  assert.equal(names(await given.store.readStream(stream)), ['RequestAccepted', 'RequestDone'])
})

test('of changes is finished on top of later changes by other commands, and skips deleted diamonds', async (given) => {
  const { created } = await createDiamonds(given.other, newDiamonds(4))
  const ids = created.map(({ data }) => data.id)
  const priced = (price: number) => ids.map((id) => planPatch(id, { set: { price }, removed: [] }, principal))
  await rejectedWith(StoreUnavailable, changeDiamonds(given.crashing, principal, priced(7)))
  const [, , third = 0, fourth = 0] = ids
  given.time.now += 5_000
  const patched = planPatch(third, { set: { price: 1, sku: 'NEW' }, removed: [] }, principal)
  await changeDiamond(given.other, principal, patched)
  await changeDiamond(given.other, principal, planDelete(fourth, principal))
  await react(given, 30_000)
  const streams = await Promise.all(ids.map((id) => given.store.readStream(`diamond-${id}`)))
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

test('is finished without the diamonds that an operator removed from the log in the meantime', async (given) => {
  await rejectedWith(StoreUnavailable, createDiamonds(given.crashing, newDiamonds(10)))
  given.peer.log.delete('diamond-1')
  given.peer.log.tombstone('diamond-2')
  await react(given, 30_000)
  assert.equal(names(await eventsOf(given, 'request-')), ['RequestAccepted', 'RequestDone'])
  const streams = Array.from({ length: 10 }, (_, n) => given.peer.log.stream(`diamond-${n + 1}`)?.length)
  assert.equal(
    streams,
    Array.from({ length: 10 }, () => 1),
  )
})

test('that is too large for one event is accepted in several parts', async (given) => {
  const sku = 'ж'.repeat(250)
  const large = { owner: 1, origin, entries: entries(800).map((entry) => ({ ...entry, sku })) }
  await rejectedWith(StoreUnavailable, createDiamonds(given.crashing, large))
  const [stream = ''] = await requests(given)
  assert.ok((await given.store.readStream(stream)).length > 1)
  await react(given, 30_000)
  assert.is((await eventsOf(given, 'diamond-')).length, 800)
})

test('with a missing part counts as never accepted', async (given) => {
  await rejectedWith(StoreUnavailable, createDiamonds(given.crashing, newDiamonds(10, 'k-2')))
  const [accepted] = await eventsOf(given, 'request-')
  if (accepted === undefined) throw new Error('nothing was accepted')
  const stream = 'request-parts'
  const { id, type, data, metadata } = accepted
  await given.store.append(stream, 'none', [{ id, type, data: { ...data, parts: 2 }, metadata }])
  assert.is(await finishBulk(given.other, stream), undefined)
})

test('of one diamond is one append, without a request record, unless it has an idempotency key', async (given) => {
  const { created } = await createDiamonds(given.other, newDiamonds(1))
  const changes = created.map(({ data }) => planPatch(data.id, { set: { price: 7 }, removed: [] }, principal))
  await changeDiamonds(given.other, principal, changes)
  assert.equal(await eventsOf(given, 'request-'), [])
  await createDiamonds(given.other, newDiamonds(1, 'k-3'))
  assert.equal(names(await eventsOf(given, 'request-')), ['RequestAccepted', 'RequestDone'])
})

test('is appended atomically, without a request record, on a store that supports it', async (given) => {
  const { temporaryLog } = await import('../../stores/temporary-log.ts')
  const log = temporaryLog()
  await createDiamonds(inventoryOn(log, given), newDiamonds(3))
  assert.equal(await all(log.readAll('start', { prefixes: ['request-'] })), [])
  await log.close()
})

test.run()
