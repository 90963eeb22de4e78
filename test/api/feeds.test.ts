import * as assert from 'uvu/assert'
import { disableAccount, enableAccount } from '../../src/commands/accounts/accounts.ts'
import { rotateLinkKey } from '../../src/commands/installation/link-key.ts'
import { until } from '../until.ts'
import type { Vendor } from './harness/account.ts'
import { pathOf } from './harness/form.ts'
import { heldReads } from './harness/diamonds-with.ts'
import { expect, pointers, refusal } from './harness/request.ts'
import { apiSuite, GENEROUS_TIMEOUT_MS, startService, untilDelivered } from './harness/service.ts'
import { created } from './harness/stones.ts'
import { newOwner } from './inventory-page/browser.ts'

const test = apiSuite('a feed')

type ShownFeed = {
  readonly id: string
  readonly name: string
  readonly format: string
  readonly filters: Readonly<Record<string, unknown>>
  readonly url: string
  readonly created: string
}

const NEW_FEED = { name: 'Partner', format: 'csv', filters: {} }

async function newFeed(vendor: Vendor, fields: Partial<typeof NEW_FEED> = {}): Promise<ShownFeed & { path: string }> {
  const feed = expect(201, await vendor.post('/v4/feed', { ...NEW_FEED, ...fields })).json() as ShownFeed
  return { ...feed, path: pathOf(feed.url) }
}

const feedsOf = async (vendor: Vendor) => expect(200, await vendor.get('/v4/feed')).json() as ShownFeed[]

const skusIn = (csv: string) =>
  csv
    .trimEnd()
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(',')[1])

test('is a file of the stones with its filters, at an address that needs no token', async ({ service }) => {
  const vendor = await service.newVendor()
  await created(vendor, { sku: 'ROUND', cutShape: 'Round', carat: 2 })
  await created(vendor, { sku: 'PEAR', cutShape: 'Pear', carat: 2, isLabGrown: true })
  await created(vendor, { sku: 'SMALL', cutShape: 'Pear', carat: 1, isLabGrown: true })
  const filters = { cutShape: ['Pear', 'Oval'], caratFrom: 1.5, isLabGrown: true, dateFrom: '2020-01-01T00:00:00Z' }
  const { path, ...feed } = await newFeed(vendor, { filters })
  const { id, url, created: at } = feed
  assert.match(id, /^fd_[\w-]{22}$/)
  assert.match(url, new RegExp(`^${service.url}/feed/${id}\\?signature=[\\w-]{32}$`))
  assert.match(at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/)
  assert.equal(feed, { id, name: 'Partner', format: 'csv', filters, url, created: at })
  const response = expect(200, await service.send({ path }))
  assert.equal(skusIn(response.text), ['PEAR'])
  assert.is(response.headers['content-type'], 'text/csv; charset=utf-8')
  assert.match(String(response.headers['content-disposition']), /^attachment; filename="stones-/)
  assert.is(response.headers['cache-control'], 'private, no-cache')
  assert.equal(await feedsOf(vendor), [feed])
})

test('accepts each filter of the list in JSON, and gives the same stones as an export', async ({ service }) => {
  const vendor = await service.newVendor()
  const { id } = await created(vendor, {
    sku: 'A-1',
    cutShape: 'Pear',
    carat: 2,
    price: 100,
    color: 'D',
    isLabGrown: true,
  })
  await created(vendor, { sku: 'B', cutShape: 'Round', carat: 0.5 })
  const cases: readonly (readonly [filters: Record<string, unknown>, query: string])[] = [
    [{ id: [id] }, `f[id][]=${id}`],
    [{ sku: ['A-1', 'X'] }, 'f[sku][]=A-1&f[sku][]=X'],
    [{ cutShape: ['Pear'] }, 'f[cutShape][]=Pear'],
    [{ isLabGrown: false }, 'f[isLabGrown]=0'],
    [{ caratFrom: 1, caratTo: 3 }, 'f[caratFrom]=1&f[caratTo]=3'],
    [{ priceTo: 99 }, 'f[priceTo]=99'],
    [{ hasScores: true }, 'f[hasScores]=1'],
    [{ integralFrom: 0.5 }, 'f[integralFrom]=0.5'],
    [{ dateTo: '2020-01-01T00:00:00+03:00' }, 'f[dateTo]=2020-01-01T00:00:00%2B03:00'],
    [{ dateFrom: '20200101T000000Z' }, 'f[dateFrom]=20200101T000000Z'],
    [{}, ''],
  ]
  for (const [filters, query] of cases) {
    const feed = await newFeed(vendor, { filters })
    const exported = expect(200, await vendor.get(`/v4/diamond/export?${query}`))
    assert.is(expect(200, await service.send({ path: feed.path })).text, exported.text, query)
    expect(204, await vendor.remove(`/v4/feed/${feed.id}`))
  }
})

test('has the signed links of restricted stones, which open their pages', async ({ service }) => {
  const vendor = await service.newVendor()
  await created(vendor, { sku: 'R', access: 0 })
  const { path } = await newFeed(vendor, { format: 'rapnet' })
  const { text } = expect(200, await service.send({ path }))
  const link = text.trimEnd().split(',').at(-1) ?? ''
  expect(200, await service.send({ path: link.slice(service.url.length) }))
})

test('that did not change is 304; each change of a stone gives it another ETag', async ({ service }) => {
  const vendor = await service.newVendor()
  const { path } = await newFeed(vendor)
  const etagAfter = async (change: () => Promise<unknown>) => {
    await change()
    const { headers } = expect(200, await service.send({ path }))
    const etag = String(headers.etag)
    const unchanged = expect(304, await service.send({ path, headers: { 'If-None-Match': etag } }))
    assert.is(unchanged.text, '')
    assert.is(unchanged.headers.etag, etag)
    return etag
  }
  let stone = { id: 0 }
  const etags = [
    await etagAfter(async () => {}),
    await etagAfter(async () => (stone = await created(vendor, { sku: 'A' }))),
    await etagAfter(() => vendor.patch(`/v4/diamond/${stone.id}`, { price: 5 })),
    await etagAfter(() => vendor.post('/v4/certification', { product: stone.id, laboratory: 'GIA', number: '1' })),
    await etagAfter(() => vendor.remove(`/v4/diamond/${stone.id}`)),
  ]
  assert.is(new Set(etags).size, etags.length)
  await created(service.bob, { sku: 'other' })
  expect(304, await service.send({ path, headers: { 'If-None-Match': String(etags.at(-1)) } }))
})

test('answers HEAD with the headers of the file, and a range with the whole file', async ({ service }) => {
  const vendor = await service.newVendor()
  await created(vendor, { sku: 'A' })
  const { path } = await newFeed(vendor)
  const whole = expect(200, await service.send({ path }))
  const head = expect(200, await service.send({ method: 'HEAD', path }))
  assert.is(head.text, '')
  for (const name of ['etag', 'last-modified', 'content-type', 'accept-ranges'])
    assert.is(head.headers[name], whole.headers[name], name)
  assert.is(whole.headers['accept-ranges'], 'none')
  assert.is(expect(200, await service.send({ path, headers: { Range: 'bytes=0-1' } })).text, whole.text)
})

test('has the second after the last change as Last-Modified', async () => {
  const time = { now: Date.parse('2026-01-01T00:00:00.300Z') }
  const service = await startService({ clock: () => time.now, readModelTimeoutMs: GENEROUS_TIMEOUT_MS })
  try {
    const { ann } = service
    const modified = async (path: string) => expect(200, await service.send({ path })).headers['last-modified']
    const { path } = await newFeed(ann)
    // Not later than now.
    assert.is(await modified(path), 'Thu, 01 Jan 2026 00:00:00 GMT')
    time.now += 60_000
    assert.is(await modified(path), 'Thu, 01 Jan 2026 00:00:01 GMT')
    const { id } = await created(ann)
    time.now += 60_000
    const first = 'Thu, 01 Jan 2026 00:01:01 GMT'
    assert.is(await modified(path), first)
    const since = { 'If-Modified-Since': first }
    expect(304, await service.send({ path, headers: since }))
    expect(204, await ann.remove(`/v4/diamond/${id}`))
    time.now += 1
    const { text } = expect(200, await service.send({ path, headers: since }))
    assert.equal(skusIn(text), [])
    time.now += 60_000
    assert.is(await modified(path), 'Thu, 01 Jan 2026 00:02:01 GMT')
  } finally {
    await service.stop()
  }
})

test('is 404 once it is deleted, and for a wrong signature, without a difference', async ({ service }) => {
  const vendor = await service.newVendor()
  const [one, other] = [await newFeed(vendor), await newFeed(vendor)]
  const unknown = 'There is no such feed: the address is incomplete, or the feed was deleted'
  const isUnknown = async (path: string) =>
    assert.equal(refusal(404, await service.send({ path })).error, [unknown], path)
  await isUnknown(`/feed/${one.id}`)
  await isUnknown(one.path.slice(0, -1))
  await isUnknown(one.path.replace(one.id, other.id))
  await isUnknown(`/feed/fd_x${other.path.slice(other.path.indexOf('?'))}`)
  refusal(400, await service.send({ path: `${one.path}&signature=x` }))
  const etag = String(expect(200, await service.send({ path: one.path })).headers.etag)
  expect(204, await vendor.remove(`/v4/feed/${one.id}`))
  await isUnknown(one.path)
  refusal(404, await service.send({ path: one.path, headers: { 'If-None-Match': etag } }))
  refusal(404, await vendor.remove(`/v4/feed/${one.id}`))
  assert.equal(
    (await feedsOf(vendor)).map(({ id }) => id),
    [other.id],
  )
  expect(200, await service.send({ path: other.path }))
})

test('is 404 while its account is disabled', async ({ service }) => {
  const { owner, person } = await newOwner(service)
  const { path } = await newFeed(owner)
  const { context } = service.installation
  const origin = { actor: 'operator', via: 'cli', correlation: 'test' } as const
  const isOpen = async () => (await service.send({ path })).status === 200
  await disableAccount(context, { email: person.email, apiTokens: 'kept' }, origin)
  await untilDelivered('the disabled account', async () => !(await isOpen()))
  refusal(404, await service.send({ path }))
  await enableAccount(context, person.email, origin)
  await untilDelivered('the enabled account', isOpen)
  expect(200, await service.send({ path }))
})

test('has another address after the key of links was replaced', async () => {
  const service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS })
  try {
    const { ann, installation } = service
    const { path } = await newFeed(ann)
    await rotateLinkKey(installation.context, installation.keys, { actor: 'operator', via: 'cli', correlation: 'test' })
    await until('the new key', async () => (await service.send({ path })).status === 404)
    const [feed] = await feedsOf(ann)
    expect(200, await service.send({ path: pathOf(feed?.url ?? null) }))
  } finally {
    await service.stop()
  }
})

test('can be deleted only by its account, which has at most ten, also if they are created concurrently', async ({
  service,
  bob,
}) => {
  const vendor = await service.newVendor()
  const responses = await Promise.all(Array.from({ length: 14 }, () => vendor.post('/v4/feed', NEW_FEED)))
  assert.is(responses.filter(({ status }) => status === 201).length, 10)
  const refused = responses.find(({ status }) => status !== 201)
  assert.match(refused?.text ?? '', /at most 10 feeds/)
  assert.is(refused?.status, 422)
  const [{ id } = { id: '' }] = await feedsOf(vendor)
  refusal(404, await bob.remove(`/v4/feed/${id}`))
  expect(401, await service.send({ method: 'DELETE', path: `/v4/feed/${id}` }))
  assert.equal(await feedsOf(bob), [])
  expect(204, await vendor.remove(`/v4/feed/${id}`))
  expect(201, await vendor.post('/v4/feed', NEW_FEED))
})

test('rejects wrong members, with what would be right', async ({ ann }) => {
  const rejected = async (body: unknown) => refusal(422, await ann.post('/v4/feed', body))
  const cases: readonly (readonly [body: unknown, pointer: string, message: RegExp])[] = [
    [{ ...NEW_FEED, name: '' }, '/name', /name must be a text of 1 to 100 characters/],
    [{ format: 'csv' }, '/name', /name is required/],
    [{ ...NEW_FEED, format: 'xml' }, '/format', /must be one of csv, jsonl, rapnet, idex, got "xml"/],
    [{ ...NEW_FEED, filter: {} }, '/filter', /filter is not a field of a feed; did you mean filters\?/],
    [{ ...NEW_FEED, filters: { carat: 1 } }, '/filters/carat', /carat is not a field of filters/],
    [{ ...NEW_FEED, filters: { caratFrm: 1 } }, '/filters/caratFrm', /did you mean filters\.caratFrom\?/],
    [{ ...NEW_FEED, filters: { caratFrom: '1' } }, '/filters/caratFrom', /must be a number such as 1\.2, got "1"/],
    [{ ...NEW_FEED, filters: { isLabGrown: 1 } }, '/filters/isLabGrown', /must be true or false, got 1/],
    [{ ...NEW_FEED, filters: { cutShape: 'Pear' } }, '/filters/cutShape', /must be a list, got "Pear"/],
    [{ ...NEW_FEED, filters: { cutShape: [] } }, '/filters/cutShape', /must be a list of at least one value/],
    [{ ...NEW_FEED, filters: { cutShape: ['Pera'] } }, '/filters/cutShape/0', /Pera/],
    [{ ...NEW_FEED, filters: { sku: [7] } }, '/filters/sku/0', /must be a text, got 7/],
    [{ ...NEW_FEED, filters: { id: ['x'] } }, '/filters/id/0', /must be the id of a diamond/],
    [{ ...NEW_FEED, filters: { dateFrom: 'today' } }, '/filters/dateFrom', /must be a date-time/],
    [{ ...NEW_FEED, filters: null }, '/filters', /filters/],
  ]
  for (const [body, pointer, message] of cases) {
    const error = await rejected(body)
    assert.equal(pointers(error), [pointer])
    assert.match(String(error.error), message)
  }
  refusal(422, await ann.post('/v4/feed', []))
})

test('is refused with 429 while four reads of feeds of the account are sent, but not its exports', async () => {
  const { held, reads } = heldReads()
  const service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, reads })
  try {
    const { ann } = service
    await created(ann)
    const { path } = await newFeed(ann)
    const { promise, resolve } = Promise.withResolvers<void>()
    held.gate = promise
    const running = Array.from({ length: 4 }, () => service.send({ path }))
    await until('four feeds are read', async () => held.waiting === 4)
    refusal(429, await service.send({ path }))
    const exported = ann.get('/v4/diamond/export')
    await until('an export is read', async () => held.waiting === 5)
    resolve()
    for (const response of await Promise.all([...running, exported])) expect(200, response)
    for (let head = 0; head < 5; head++) expect(200, await service.send({ method: 'HEAD', path }))
    expect(200, await service.send({ path }))
  } finally {
    await service.stop()
  }
})

test.run()
