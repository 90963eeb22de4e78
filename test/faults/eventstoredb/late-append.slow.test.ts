import { randomBytes } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expect, refusal, type ApiResponse } from '../../api/harness/request.ts'
import { startService, type Service } from '../../api/harness/service.ts'
import { created, list, shown, stone } from '../../api/harness/stones.ts'
import { startPeer, type Peer } from '../../eventstoredb/peer/peer.ts'
import { mongoServer } from '../../mongo-server.ts'
import { until } from '../../until.ts'

const mongo = await mongoServer('appends that are stored late')
console.log("NOTE: appends that are stored late: on EventStoreDB's peer")

type Given = { peer: Peer; service: Service; database: string }
const test = suite<Given>('a service on EventStoreDB and MongoDB whose append is stored after its timeout')

test.before(async (given) => {
  given.peer = await startPeer()
  given.database = mongo?.newDatabase() ?? ''
  const engines = { EVENT_STORE: given.peer.url, READ_MODEL: given.database }
  given.service = await startService({ settings: { ...engines, MASTER_KEY: randomBytes(32).toString('base64') } })
})
test.after(async ({ peer, service, database }) => {
  await service.stop()
  await peer.stop()
  await mongo?.drop(database)
})

/** Sends a request whose append is stored late. The server is silent until the request fails with 503. */
async function timeOut({ peer }: Given, send: () => Promise<ApiResponse>): Promise<void> {
  peer.faults.appends.push('late')
  const sent = send()
  await until('the append', () => peer.faults.appends.length === 0)
  peer.faults.silent = true
  const response = await sent
  peer.faults.silent = false
  refusal(503, response)
  assert.ok(Number(response.headers['retry-after']) > 0)
}

/** Repeats a request while it gets a 503. */
async function repeat(send: () => Promise<ApiResponse>): Promise<ApiResponse> {
  let response = await send()
  const isDone = async () => {
    if (response.status === 503) response = await send()
    return response.status !== 503
  }
  await until('a response other than 503', isDone)
  return response
}

/** The types of the events in a diamond's stream. */
const eventsOf = ({ peer }: Given, id: number) =>
  peer.log.all.filter(({ stream }) => stream === `diamond-${id}`).map(({ type }) => type)

async function listed({ service: { ann } }: Given, sku: string): Promise<number[]> {
  const path = `/v4/diamond?f[sku][]=${sku}`
  await until('a current list', async () => (await ann.get(path)).headers['x-consistency'] === undefined)
  return list(await ann.get(path)).map(({ id }) => id)
}

test('creates a bulk once if it is stored before the request is repeated', async (given) => {
  const { ann } = given.service
  const entries = [0, 1, 2].map(() => stone({ sku: 'BULK' }))
  const send = () => ann.post('/v4/diamond/bulk', { entries }, { 'Idempotency-Key': 'bulk' })
  await timeOut(given, send)
  given.peer.faults.storeLateAppends()
  const ids = list(expect(201, await repeat(send))).map(({ id }) => id)
  assert.is(ids.length, 3)
  assert.equal((await listed(given, 'BULK')).toSorted(), ids.toSorted())
  for (const id of ids) assert.equal(eventsOf(given, id), ['DiamondCreated'])
})

test('creates a stone once if it is stored after the request was repeated', async (given) => {
  const { ann } = given.service
  const send = () => ann.post('/v4/diamond', stone({ sku: 'AFTER' }), { 'Idempotency-Key': 'after' })
  await timeOut(given, send)
  const { id } = shown(expect(201, await repeat(send)))
  given.peer.faults.storeLateAppends()
  assert.equal(await listed(given, 'AFTER'), [id])
  assert.equal(eventsOf(given, id), ['DiamondCreated'])
})

test('changes a stone once if the change is stored before the request is repeated', async (given) => {
  const { ann } = given.service
  const { id } = await created(ann, { sku: 'CHANGED' })
  const send = () => ann.patch(`/v4/diamond/${id}`, { price: 7 })
  await timeOut(given, send)
  given.peer.faults.storeLateAppends()
  assert.is(shown(expect(200, await repeat(send)))['price'], 7)
  assert.equal(eventsOf(given, id), ['DiamondCreated', 'DiamondPatched'])
})

test('does not store a late change after another one', async (given) => {
  const { ann } = given.service
  const { id } = await created(ann, { sku: 'OVERTAKEN' })
  await timeOut(given, () => ann.patch(`/v4/diamond/${id}`, { price: 7 }))
  expect(200, await repeat(() => ann.patch(`/v4/diamond/${id}`, { price: 8 })))
  given.peer.faults.storeLateAppends()
  assert.is(shown(expect(200, await ann.get(`/v4/diamond/${id}`)))['price'], 8)
  assert.equal(eventsOf(given, id), ['DiamondCreated', 'DiamondPatched'])
  assert.equal(await listed(given, 'OVERTAKEN'), [id])
})

if (mongo !== undefined) test.run()
