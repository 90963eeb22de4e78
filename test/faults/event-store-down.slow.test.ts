import { randomBytes } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Vendor } from '../api/harness/account.ts'
import { expect, type ApiResponse } from '../api/harness/request.ts'
import { startService, type Service } from '../api/harness/service.ts'
import { list, shown, stone } from '../api/harness/stones.ts'
import { startPeer, type Peer } from '../eventstoredb/peer/peer.ts'
import { everyDiamond } from './serving.ts'
import { until } from '../until.ts'

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

/** The results of the clients' writes: ids of acknowledged stones by sku, responses 503, and the skus of each bulk. */
type WriteResults = {
  readonly acknowledged: Map<string, number>
  readonly refused: ApiResponse[]
  readonly bulks: string[][]
}

/** Creates single stones and bulks until `ended` returns true. The only allowed error is a 503 with Retry-After. */
async function write(ann: Vendor, name: string, results: WriteResults, ended: () => boolean): Promise<void> {
  for (let number = 0; !ended(); number++) {
    const skus = Array.from({ length: number % 5 === 4 ? BULK : 1 }, (_, index) => `${name}-${number}/${index}`)
    const entries = skus.map((sku) => stone({ sku }))
    if (entries.length > 1) results.bulks.push(skus)
    const response =
      entries.length > 1 ? await ann.post('/v4/diamond/bulk', { entries }) : await ann.post('/v4/diamond', entries[0])
    if (response.status !== 201) {
      assert.equal([response.status, Number(response.headers['retry-after']) > 0], [503, true], response.text)
      results.refused.push(response)
    } else if (entries.length > 1) for (const { sku, id } of list(response)) results.acknowledged.set(sku, id)
    else results.acknowledged.set(skus[0] ?? '', shown(response).id)
  }
}

/** Asserts that every acknowledged stone is listed exactly once. */
async function assertListed(ann: Vendor, results: WriteResults): Promise<void> {
  await until('current lists', async () => (await ann.get('/v4/diamond')).headers['x-consistency'] === undefined)
  const { total, diamonds } = await everyDiamond(ann, 'v4')
  assert.is(total, diamonds.length)
  const ids = new Map(diamonds.map(({ sku, id }) => [sku, id]))
  assert.is(ids.size, diamonds.length, 'a diamond is listed twice')
  for (const [sku, id] of results.acknowledged) assert.is(ids.get(sku), id, `${sku} was acknowledged as ${id}`)
}

/** What a fault may wait for: that a client gets a 503, or that another write is acknowledged. */
type Milestones = { readonly refusal: () => Promise<void>; readonly write: () => Promise<void> }

const faults: [what: string, inject: (peer: Peer, next: Milestones) => Promise<void>][] = [
  [
    'goes down and comes back',
    async (peer, next) => {
      await peer.down()
      await next.refusal()
      await peer.up()
    },
  ],
  [
    'drops its connections repeatedly',
    async (peer, next) => {
      for (let time = 0; time < 5; time++) {
        await next.write()
        peer.drop()
      }
    },
  ],
  [
    'is temporarily not ready',
    async (peer, next) => {
      peer.faults.notReady = true
      await next.refusal()
      peer.faults.notReady = false
    },
  ],
  [
    'times out but stores the events',
    async (peer) => {
      peer.faults.appends.push(...Array.from({ length: 40 }, () => 'timeout, stored' as const))
      await until('all faults', () => peer.faults.appends.length === 0)
    },
  ],
]
for (const [description, inject] of faults) {
  test(`(it ${description}) loses and duplicates no acknowledged write, and recovers automatically`, async ({
    peer,
    ann,
  }) => {
    const results: WriteResults = { acknowledged: new Map(), refused: [], bulks: [] }
    let ended = false
    const clients = Array.from({ length: 4 }, (_, client) => write(ann, `c${client}`, results, () => ended))
    await until('first responses', () => results.acknowledged.size > 20)
    await inject(peer, {
      refusal: () => until('a refusal', () => results.refused.length > 0),
      async write() {
        const acknowledged = results.acknowledged.size
        await until('another write', () => results.acknowledged.size > acknowledged)
      },
    })
    const before = results.acknowledged.size
    await until('responses after the fault', () => results.acknowledged.size > before + 20)
    ended = true
    await Promise.all(clients)
    await assertListed(ann, results)
  })
}

test('rejects writes with 503 immediately while it is down', async ({ peer, service, ann }) => {
  const { id } = shown(expect(201, await ann.post('/v4/diamond', stone())))
  await peer.down()
  await ann.post('/v4/diamond', stone())
  const responses = [
    await ann.post('/v4/diamond', stone()),
    await ann.patch(`/v4/diamond/${id}`, { price: 1 }),
    await ann.remove(`/v4/diamond/${id}`),
  ]
  for (const response of responses) assert.equal([response.status, response.headers['retry-after']], [503, '2'])
  await peer.up()
  await until('a write', async () => (await ann.patch(`/v4/diamond/${id}`, { price: 1 })).status === 200)
  assert.is(shown(expect(200, await ann.get(`/v4/diamond/${id}`)))['price'], 1)
  assert.is((await service.send({ path: '/health/ready' })).status, 200)
})

test('rejects writes with 503 within 20 s while it serves only reads, and recovers automatically', async ({
  peer,
  ann,
}) => {
  const { id } = shown(expect(201, await ann.post('/v4/diamond', stone())))
  // As a leader without the other nodes. The test's requests time out after 20 s (harness/request.ts).
  peer.faults.appends.push(...Array.from({ length: 1_000 }, () => 'silent, lost' as const))
  const responses = await Promise.all([
    ann.post('/v4/diamond', stone()),
    ann.post('/v4/diamond', stone(), { 'Idempotency-Key': 'k' }),
    ann.post('/v4/diamond/bulk', { entries: [stone(), stone()] }),
    ann.patch(`/v4/diamond/${id}`, { price: 1 }),
  ])
  for (const { status, headers } of responses) assert.equal([status, headers['retry-after']], [503, '2'])
  expect(200, await ann.get(`/v4/diamond/${id}`))
  peer.faults.appends.length = 0
  await until('a write', async () => (await ann.patch(`/v4/diamond/${id}`, { price: 2 })).status === 200)
})

test('reports lists as pending while its subscription is silent, and catches up without a restart', async ({
  peer,
  ann,
}) => {
  expect(201, await ann.post('/v4/diamond', stone({ sku: 'before' })))
  peer.faults.silentSubscriptions = true
  const response = expect(201, await ann.post('/v4/diamond', stone({ sku: 'meanwhile' })))
  assert.is(response.headers['x-consistency'], 'pending')
  expect(200, await ann.get(`/v4/diamond/${shown(response).id}`))
  peer.faults.silentSubscriptions = false
  await until('the list', async () => list(expect(200, await ann.get('/v4/diamond'))).length === 2)
})

test('is slow but loses nothing when its event store is slow', async ({ peer, ann }) => {
  peer.faults.messageIntervalMs = 5
  const results: WriteResults = { acknowledged: new Map(), refused: [], bulks: [] }
  const clients = [0, 1, 2].map((client) => write(ann, `s${client}`, results, () => results.acknowledged.size > 150))
  await Promise.all(clients)
  peer.faults.messageIntervalMs = 0
  await assertListed(ann, results)
  assert.is(results.refused.length, 0)
})

test.run()
