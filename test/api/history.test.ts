import { randomUUID } from 'node:crypto'
import * as assert from 'uvu/assert'
import { toEventMetadata } from '../../src/events/event-metadata.ts'
import { StoreUnavailable, type EventStore } from '../../src/stores/ports/event-store.ts'
import { fixture, reportNamed } from '../fixtures/reports/reports.ts'
import { attached } from './harness/form.ts'
import type { Vendor } from './harness/account.ts'
import { expect, refusal } from './harness/request.ts'
import { untilEtag } from './harness/scored.ts'
import { apiSuite, GENEROUS_TIMEOUT_MS, startService } from './harness/service.ts'
import { created, createdMany, shown } from './harness/stones.ts'
import { until } from '../until.ts'

const test = apiSuite("a diamond's history", { scored: true })

type Change = { field: string; from: unknown; to: unknown }
type Entry = {
  revision: number
  at: string
  type: string
  by: { account: string | null; client: string | null; via: string } | null
  request: string
  changes: Change[]
}

const historyOf = async (vendor: Vendor, id: number, query = '') =>
  expect(200, await vendor.get(`/v4/diamond/${id}/history${query}`)).json() as Entry[]

/** @throws Error if there is no such entry */
function requireEntry(entry: Entry | undefined): Entry {
  if (entry === undefined) throw new Error('no such entry')
  return entry
}

const changeOf = ({ changes }: Entry, field: string) => changes.find((change) => change.field === field)

test('begins with all fields of the creation, its account, client, interface and request id', async ({ ann }) => {
  const response = await ann.post(
    '/v4/diamond',
    { sku: 'A-7', cutShape: 'Round', carat: 1.2, clarity: 'IF' },
    { 'X-Request-Id': 'the-first' },
  )
  const { id } = shown(expect(201, response))
  const entry = requireEntry((await historyOf(ann, id))[0])
  assert.is(entry.type, 'created')
  assert.is(entry.revision, 0)
  assert.is(entry.request, 'the-first')
  assert.match(entry.at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/)
  assert.match(entry.by?.account ?? '', /@example\.com$/)
  assert.is(entry.by?.client, 'tests')
  assert.is(entry.by?.via, 'http')
  const diamond = shown(response)
  const order = Object.keys(diamond).filter((name) => entry.changes.some(({ field }) => field === name))
  assert.equal(
    entry.changes.map(({ field }) => field),
    order,
    'in the order of the v4 object',
  )
  for (const { field, from, to } of entry.changes) {
    assert.is(from, null)
    assert.is.not(to, null)
    assert.equal(to, diamond[field])
  }
  for (const field of ['sku', 'cutShape', 'carat', 'clarity', 'isColored', 'access']) assert.ok(changeOf(entry, field))
  for (const field of ['price', 'scores', 'certifications', 'id', 'date', '_links'])
    assert.is(changeOf(entry, field), undefined)
})

test('shows the old and new titles of each changed field, and none for a field outside v4', async ({ ann }) => {
  const { id } = await created(ann, { color: 'E' })
  expect(200, await ann.patch(`/v3/diamond/${id}`, { isPublished: true }))
  expect(200, await ann.patch(`/v4/diamond/${id}`, { price: 100, color: 'F', cutShape: 'Oval' }))
  expect(200, await ann.patch(`/v4/diamond/${id}`, { price: null }))
  const changed = (await historyOf(ann, id)).filter(({ type }) => type === 'changed')
  assert.equal(
    changed.map(({ changes }) => changes.filter(({ field }) => field !== 'scores')),
    [
      [],
      [
        { field: 'price', from: null, to: 100 },
        { field: 'cutShape', from: 'Round', to: 'Oval' },
        { field: 'color', from: 'E', to: 'F' },
      ],
      [{ field: 'price', from: 100, to: null }],
    ],
  )
})

test('shows scores with their revision, and that a change clears them', async ({ ann }) => {
  const { id } = await created(ann, { cutQuality: 'Excellent' })
  const scored = shown(await untilEtag(ann, id, '"0.1"'))
  expect(200, await ann.patch(`/v4/diamond/${id}`, { price: 1 }))
  expect(200, await ann.patch(`/v4/diamond/${id}`, { carat: 2 }))
  const rescored = shown(await untilEtag(ann, id, '"2.2"'))
  const entries = await historyOf(ann, id)
  assert.equal(
    entries.map(({ type, revision }) => `${type} ${revision}`),
    ['created 0', 'scored 0', 'changed 1', 'changed 2', 'scored 2'],
  )
  const [, first, , ended, second] = entries
  assert.is(first?.by, null)
  assert.equal(first?.changes, [{ field: 'scores', from: null, to: scored['scores'] }])
  assert.equal(ended && changeOf(ended, 'scores'), { field: 'scores', from: scored['scores'], to: null })
  assert.equal(second?.changes, [{ field: 'scores', from: null, to: rescored['scores'] }])
})

test('shows certifications as whole objects and read reports, and stays complete after deletion', async ({
  ann,
  bob,
}) => {
  const { id } = await created(ann, { carat: 3 })
  await untilEtag(ann, id, '"0.1"')
  const report = await attached(ann, id, fixture(reportNamed('gia').file))
  await until('the report to be read', async () => (await historyOf(ann, id)).some(({ type }) => type === 'read'))
  const own = (await historyOf(ann, id)).filter(({ type }) => type !== 'scored')
  const [certified, read] = [requireEntry(own[1]), requireEntry(own[2])]
  assert.is(certified.type, 'certified')
  assert.equal(certified.changes, [{ field: 'certifications', from: null, to: report }])
  assert.is(read.by, null)
  const warned = shown(await ann.get(`/v4/diamond/${id}`))['certifications'] as object[]
  assert.equal(read.changes, [{ field: 'certifications', from: report, to: warned[0] }])
  const { file } = report as { file: string }
  const { pathname, search } = new URL(file)
  expect(200, await ann.get(pathname + search))
  expect(204, await ann.remove(`/v4/diamond/${id}`))
  expect(404, await ann.get(`/v4/diamond/${id}`))
  const entries = await historyOf(ann, id)
  assert.equal(
    entries.slice(-2).map(({ type }) => type),
    ['uncertified', 'deleted'],
  )
  const [uncertified, deleted] = entries.slice(-2)
  assert.equal(
    requireEntry(uncertified).changes.map(({ field, to }) => [field, to]),
    [['certifications', null]],
  )
  assert.equal(deleted && changeOf(deleted, 'carat'), { field: 'carat', from: 3, to: null })
  refusal(404, await bob.get(`/v4/diamond/${id}/history`))
})

test('names the client of bulk requests, certifications and deletions', async ({ ann }) => {
  const [stone] = await createdMany(ann, 2, 'BULK')
  if (stone === undefined) throw new Error('nothing was created')
  expect(200, await ann.patch('/v4/diamond/bulk', { entries: [{ id: stone.id, price: 4 }] }))
  expect(201, await ann.post('/v4/certification', { product: stone.id, laboratory: 'GIA' }))
  expect(204, await ann.remove('/v4/diamond/bulk', { entries: [{ id: stone.id }] }))
  const own = (await historyOf(ann, stone.id)).filter(({ type }) => type !== 'scored')
  assert.equal(
    own.map(({ type, by }) => [type, by?.client, by?.via]),
    ['created', 'changed', 'certified', 'uncertified', 'deleted'].map((type) => [type, 'tests', 'http']),
  )
})

test('is paginated and has a total', async ({ ann }) => {
  const { id } = await created(ann)
  await untilEtag(ann, id, '"0.1"')
  for (let price = 1; price <= 30; price++) expect(200, await ann.patch(`/v4/diamond/${id}`, { price }))
  const first = expect(200, await ann.get(`/v4/diamond/${id}/history`))
  const all = await historyOf(ann, id, '?limit=1000')
  assert.is(all.length, 32)
  assert.is(first.headers['x-total-count'], '32')
  assert.equal(first.json(), all.slice(0, 25))
  assert.match(String(first.headers.link), /history\?limit=25&offset=25>; rel="next"/)
  assert.equal(await historyOf(ann, id, '?limit=3&offset=30'), all.slice(30))
  assert.is(expect(204, await ann.get(`/v4/diamond/${id}/history?offset=32`)).text, '')
  refusal(422, await ann.get(`/v4/diamond/${id}/history?limit=0`))
  refusal(422, await ann.get(`/v4/diamond/${id}/history?limit=1001`))
  refusal(400, await ann.get(`/v4/diamond/${id}/history?offset=x`))
})

test('is visible only to the owner', async ({ ann, bob, service }) => {
  const { id } = await created(ann)
  refusal(403, await bob.get(`/v4/diamond/${id}/history`))
  refusal(401, await service.send({ path: `/v4/diamond/${id}/history` }))
  refusal(404, await ann.get('/v4/diamond/9007199254740991/history'))
  refusal(404, await ann.get('/v4/diamond/abc/history'))
  refusal(405, await ann.post(`/v4/diamond/${id}/history`, {}))
})

test('is 503 if an event cannot be decoded, instead of omitting that event', async () => {
  const service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS })
  const { ann, installation } = service
  const { id } = await created(ann)
  const event = { id: randomUUID(), type: 'DiamondPatched', data: { broken: true } }
  const origin = { actor: 'account-1', via: 'http', correlation: 'test' } as const
  await installation.store.append(`diamond-${id}`, 0n, [{ ...event, metadata: toEventMetadata(origin, Date.now()) }])
  refusal(503, await ann.get(`/v4/diamond/${id}/history`))
  assert.is((await historyOf(ann, id, '?limit=1')).length, 1)
  await service.stop()
})

test('is 503 while the event store is unavailable, like a diamond at a past time, and complete afterwards', async () => {
  const outage = { now: false }
  const store = (log: EventStore): EventStore => ({
    ...log,
    readStream: async (stream, range) => {
      if (outage.now) throw new StoreUnavailable('made unavailable by the test')
      return log.readStream(stream, range)
    },
  })
  const service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, store })
  try {
    const { ann, installation } = service
    const { id } = await created(ann)
    const now = new Date(installation.context.clock()).toISOString()
    outage.now = true
    refusal(503, await ann.get(`/v4/diamond/${id}/history`))
    for (const version of ['v3', 'v4']) {
      refusal(503, await ann.get(`/${version}/diamond/${id}?at=${now}`))
    }
    outage.now = false
    assert.is((await historyOf(ann, id)).length, 1)
  } finally {
    await service.stop()
  }
})

test.run()
