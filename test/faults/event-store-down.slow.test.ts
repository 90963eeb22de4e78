import { randomBytes } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Vendor } from '../api/harness/account.ts'
import { expect, type Answer } from '../api/harness/request.ts'
import { startService, type Service } from '../api/harness/service.ts'
import { list, shown, stone } from '../api/harness/stones.ts'
import { startPeer, type Peer } from '../eventstoredb/peer/peer.ts'
import { everyDiamond } from './serving.ts'
import { until } from '../until.ts'

/** The service on EventStoreDB's peer, in front of which things go wrong. */
const test = suite<{ peer: Peer; service: Service; ann: Vendor }>('a service whose event store fails')

test.before.each(async (given) => {
  given.peer = await startPeer()
  const settings = { EVENT_STORE: given.peer.url, MASTER_KEY: randomBytes(32).toString('base64') }
  given.service = await startService({ settings })
  given.ann = given.service.ann
})
test.after.each(async ({ peer, service }) => {
  await service.stop()
  await peer.stop()
})

const BULK = 10

/** What one client was told, by the skus that it sent. */
type Told = { readonly acknowledged: Map<string, number>; readonly refused: Answer[]; readonly bulks: string[][] }

/** Writes single stones and bulks until it is told to end; a refusal must be a 503 that says when to come again. */
async function write(ann: Vendor, name: string, told: Told, ended: () => boolean): Promise<void> {
  for (let number = 0; !ended(); number++) {
    const skus = Array.from({ length: number % 5 === 4 ? BULK : 1 }, (_, index) => `${name}-${number}/${index}`)
    const entries = skus.map((sku) => stone({ sku }))
    if (entries.length > 1) told.bulks.push(skus)
    const answer =
      entries.length > 1 ? await ann.post('/v4/diamond/bulk', { entries }) : await ann.post('/v4/diamond', entries[0])
    if (answer.status !== 201) {
      assert.equal([answer.status, Number(answer.headers['retry-after']) > 0], [503, true], answer.text)
      told.refused.push(answer)
    } else if (entries.length > 1) for (const { sku, id } of list(answer)) told.acknowledged.set(sku, id)
    else told.acknowledged.set(skus[0] ?? '', shown(answer).id)
  }
}

/** Everything that was acknowledged is there once, in both lists, and no bulk that was acknowledged is there by halves. */
async function holds(ann: Vendor, told: Told): Promise<void> {
  await until('current lists', async () => (await ann.get('/v4/diamond')).headers['x-consistency'] === undefined)
  const { total, diamonds } = await everyDiamond(ann, 'v4')
  assert.is(total, diamonds.length)
  const ids = new Map(diamonds.map(({ sku, id }) => [sku, id]))
  assert.is(ids.size, diamonds.length, 'a diamond is there twice')
  for (const [sku, id] of told.acknowledged) assert.is(ids.get(sku), id, `${sku} was acknowledged as ${id}`)
}

/** What a trouble may wait for: that a client is refused, or another write acknowledged. */
type Met = { readonly refusal: () => Promise<void>; readonly write: () => Promise<void> }

const troubles: [what: string, trouble: (peer: Peer, met: Met) => Promise<void>][] = [
  [
    'goes down and comes back',
    async (peer, met) => {
      await peer.down()
      await met.refusal()
      await peer.up()
    },
  ],
  [
    'drops its connections again and again',
    async (peer, met) => {
      for (let time = 0; time < 5; time++) {
        await met.write()
        peer.drop()
      }
    },
  ],
  [
    'is not ready for a while',
    async (peer, met) => {
      peer.faults.notReady = true
      await met.refusal()
      peer.faults.notReady = false
    },
  ],
  [
    'times out and stores nevertheless',
    async (peer) => {
      peer.faults.appends.push(...Array.from({ length: 40 }, () => 'timeout, stored' as const))
      await until('all faults', () => peer.faults.appends.length === 0)
    },
  ],
]
for (const [what, trouble] of troubles) {
  test(`(it ${what}) loses nothing that it acknowledged, writes nothing twice, and recovers by itself`, async ({
    peer,
    ann,
  }) => {
    const told: Told = { acknowledged: new Map(), refused: [], bulks: [] }
    let ended = false
    const clients = Array.from({ length: 4 }, (_, client) => write(ann, `c${client}`, told, () => ended))
    await until('first answers', () => told.acknowledged.size > 20)
    await trouble(peer, {
      refusal: () => until('a refusal', () => told.refused.length > 0),
      async write() {
        const known = told.acknowledged.size
        await until('another write', () => told.acknowledged.size > known)
      },
    })
    const before = told.acknowledged.size
    await until('answers after the trouble', () => told.acknowledged.size > before + 20)
    ended = true
    await Promise.all(clients)
    await holds(ann, told)
  })
}

test('answers writes 503 at once while it is down, and is not ready', async ({ peer, service, ann }) => {
  const { id } = shown(expect(201, await ann.post('/v4/diamond', stone())))
  await peer.down()
  await ann.post('/v4/diamond', stone())
  const answers = [
    await ann.post('/v4/diamond', stone()),
    await ann.patch(`/v4/diamond/${id}`, { price: 1 }),
    await ann.remove(`/v4/diamond/${id}`),
  ]
  for (const answer of answers) assert.equal([answer.status, answer.headers['retry-after']], [503, '2'])
  await peer.up()
  await until('a write', async () => (await ann.patch(`/v4/diamond/${id}`, { price: 1 })).status === 200)
  assert.is(shown(expect(200, await ann.get(`/v4/diamond/${id}`)))['price'], 1)
  assert.is((await service.send({ path: '/health/ready' })).status, 200)
})

test('answers writes 503 in time while it reads and stores nothing, and recovers by itself', async ({ peer, ann }) => {
  const { id } = shown(expect(201, await ann.post('/v4/diamond', stone())))
  // As a leader that has lost the others. Who asks gives up after 20 s (harness/request.ts), before all tries were made.
  peer.faults.appends.push(...Array.from({ length: 1_000 }, () => 'silent, lost' as const))
  const answers = await Promise.all([
    ann.post('/v4/diamond', stone()),
    ann.post('/v4/diamond', stone(), { 'Idempotency-Key': 'k' }),
    ann.post('/v4/diamond/bulk', { entries: [stone(), stone()] }),
    ann.patch(`/v4/diamond/${id}`, { price: 1 }),
  ])
  for (const { status, headers } of answers) assert.equal([status, headers['retry-after']], [503, '2'])
  expect(200, await ann.get(`/v4/diamond/${id}`))
  peer.faults.appends.length = 0
  await until('a write', async () => (await ann.patch(`/v4/diamond/${id}`, { price: 2 })).status === 200)
})

test('says that lists are behind while its subscription is silent, and catches up without a restart', async ({
  peer,
  ann,
}) => {
  expect(201, await ann.post('/v4/diamond', stone({ sku: 'before' })))
  peer.faults.silentSubscriptions = true
  const answer = expect(201, await ann.post('/v4/diamond', stone({ sku: 'meanwhile' })))
  assert.is(answer.headers['x-consistency'], 'pending')
  expect(200, await ann.get(`/v4/diamond/${shown(answer).id}`))
  peer.faults.silentSubscriptions = false
  await until('the list', async () => list(expect(200, await ann.get('/v4/diamond'))).length === 2)
})

test('is slow where its event store is slow, and misses nothing', async ({ peer, ann }) => {
  peer.faults.subscriptionPause = 5
  const told: Told = { acknowledged: new Map(), refused: [], bulks: [] }
  const clients = [0, 1, 2].map((client) => write(ann, `s${client}`, told, () => told.acknowledged.size > 150))
  await Promise.all(clients)
  peer.faults.subscriptionPause = 0
  await holds(ann, told)
  assert.is(told.refused.length, 0)
})

test.run()
