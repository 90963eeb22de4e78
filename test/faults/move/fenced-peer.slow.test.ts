import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { LOG_STREAM } from '../../../src/domain/installation/read-only-state.ts'
import { vendor, type Vendor } from '../../api/harness/account.ts'
import { expect, type ApiResponse } from '../../api/harness/request.ts'
import { form, newSender, type Sender } from '../../api/harness/secrets.ts'
import { shown, stone } from '../../api/harness/stones.ts'
import { resultOf, MoveFixture, type InstallationConfig } from '../../cli/move/moving.ts'
import { all } from '../../contract/event-store/given.ts'
import { startPeer, type Peer } from '../../eventstoredb/peer/peer.ts'
import { assertMoved, withInstallationOf } from './copies.ts'
import { until } from '../../until.ts'

/** An installation with its log on the EventStoreDB peer, where an append cannot check for a fence on the server. */
type Given = { fixture: MoveFixture; peer: Peer; from: InstallationConfig; to: InstallationConfig }
const test = suite<Given>('an installation on EventStoreDB that is fenced')
test.before.each(async (given) => {
  given.fixture = await MoveFixture.open()
  given.peer = await startPeer()
  const MASTER_KEY = randomBytes(32).toString('base64')
  const dataDir = join(given.fixture.folder, 'a')
  const settings = { EVENT_STORE: given.peer.url, MASTER_KEY }
  given.from = { address: `${given.peer.url},sqlite:${dataDir}`, dataDir, settings }
  given.to = { ...given.fixture.sqlite('b'), settings: { MASTER_KEY } }
})
test.after.each(async ({ fixture, peer }) => {
  await fixture.close()
  await peer.stop()
})

type Client = { readonly ann: Vendor; readonly sender: Sender }

/** Starts two processes. @returns clients with the same account, one for each process */
async function twoProcesses({ fixture, from }: Given): Promise<readonly [Client, Client]> {
  const service = await fixture.serve(from)
  const { account, token } = service.ann
  const sender = await newSender(service.installation)
  await service.stop()
  const start = async (): Promise<Client> => {
    const serving = fixture.commands.start(['serve', '--json'], { ...from.settings, DATA_DIR: from.dataDir })
    const { url } = JSON.parse(await serving.line()) as { url: string }
    return { ann: vendor(url, account, token), sender }
  }
  return [await start(), await start()]
}

/** Acknowledged ids by sku. */
type Acknowledged = Map<string, number>

/** @returns the response that is not a success */
async function writeUntilRejected({ ann }: Client, name: string, acknowledged: Acknowledged): Promise<ApiResponse> {
  for (let number = 0; ; number++) {
    const response = await ann.post('/v4/diamond', stone({ sku: `${name}-${number}` }))
    if (response.status !== 201) return response
    acknowledged.set(`${name}-${number}`, shown(response).id)
  }
}

function assertFenced(response: ApiResponse): void {
  expect(503, response)
  assert.match(response.text, /accepts no writes: it was moved/)
  assert.is(response.headers['retry-after'], '30')
}

test('rejects writes in all its processes, and every acknowledged write is in the copy', async (given) => {
  const { fixture, from, to, peer } = given
  const clients = await twoProcesses(given)
  const acknowledged: Acknowledged = new Map()
  const rejections = clients.map((client, index) => writeUntilRejected(client, `P${index}`, acknowledged))
  await until('writes of both', () => ['P0-9', 'P1-9'].every((sku) => acknowledged.has(sku)))
  resultOf(await fixture.move(from, to))
  for (const rejection of await Promise.all(rejections)) assertFenced(rejection)
  await assertMoved(from, to)
  const skus = await withInstallationOf(to, skusIn)
  for (const [sku, id] of acknowledged) assert.is(skus.get(id), sku)

  const last = peer.log.all.length
  for (const { ann, sender } of clients) {
    const id = acknowledged.get('P0-1') ?? 0
    assertFenced(await ann.post('/v4/diamond', stone()))
    assertFenced(await ann.post('/v4/diamond/bulk', { entries: [stone(), stone()] }))
    assertFenced(await ann.patch(`/v4/diamond/${id}`, { price: 5 }))
    assertFenced(await ann.remove(`/v4/diamond/${id}`))
    expect(503, await ann.send(form('/api/v1/share', 'secret=x', sender.authorization)))
    expect(200, await ann.get(`/v4/diamond/${id}`))
  }
  assert.is(peer.log.all.length, last, 'something was appended after the fence')
})

test('keeps its promise for a write in progress when its copy died and was given up', async (given) => {
  const { fixture, from, to, peer } = given
  const [{ ann }] = await twoProcesses(given)
  expect(201, await ann.post('/v4/diamond', stone({ sku: 'FIRST' })))
  // After the scores, no other append is pending.
  await until('scores', () => peer.log.all.some(({ type }) => type === 'DiamondScored'))
  peer.faults.appends.push('late')
  const response = ann.post('/v4/diamond', stone({ sku: 'ON ITS WAY' }))
  await until('the append to be sent', () => peer.faults.appends.length === 0)
  assert.is((await fixture.startSignalledMove(from, to, 'source.store.append/1').ended).code, null)
  assert.is(
    (await withInstallationOf(from, ({ store }) => store.readStream(LOG_STREAM, { last: 1 })))[0]?.type,
    'LogFenced',
  )
  peer.faults.storeLateAppends()
  const { status } = await response
  assert.ok([201, 503].includes(status), `the status is ${status}`)
  resultOf(await fixture.move(from, to, '--give-up'))
  const skus = [...(await withInstallationOf(from, skusIn)).values()]
  assert.equal(skus, ['FIRST', 'ON ITS WAY'])
  await until('writes again', async () => (await ann.post('/v4/diamond', stone())).status === 201)
  assert.match((await fixture.move(from, to)).err, /abandoned/)
})

async function skusIn({
  store,
}: Parameters<Parameters<typeof withInstallationOf>[1]>[0]): Promise<Map<unknown, unknown>> {
  const events = await all(store.readAll('start', { prefixes: ['diamond-'] }))
  const created = events.filter(({ type }) => type === 'DiamondCreated')
  return new Map(created.map(({ data }) => [data['id'], (data['set'] as { sku: string }).sku]))
}

test.run()
