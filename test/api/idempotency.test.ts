import * as assert from 'uvu/assert'
import type { Vendor } from './harness/account.ts'
import { expect, pointers, refusal, type ApiResponse } from './harness/request.ts'
import { apiSuite } from './harness/service.ts'
import { expectNoChange, list, shown, stone, stoneV3 } from './harness/stones.ts'

const time = { now: Date.UTC(2026, 0, 2) }
const HOUR = 3_600_000

const test = apiSuite('a create request with an Idempotency-Key', { clock: () => time.now })

const keyed = (vendor: Vendor, key: string, json: unknown = stone(), path = '/v4/diamond') =>
  vendor.post(path, json, { 'Idempotency-Key': key })

const totalOf = async (vendor: Vendor) => Number((await vendor.get('/v4/diamond')).headers['x-total-count'])
const idsOf = (responses: readonly ApiResponse[]) => new Set(responses.map((response) => shown(response).id))

test('returns the first response again for the same key and body, and creates once', async ({ service }) => {
  const vendor = await service.newVendor()
  const first = expect(201, await keyed(vendor, 'k-1'))
  const again = expect(201, await keyed(vendor, 'k-1'))
  assert.is(again.text, first.text)
  assert.equal([again.headers.location, again.headers.etag], [first.headers.location, first.headers.etag])
  assert.is(await totalOf(vendor), 1)
})

test('in bulk returns the complete first response again', async ({ service }) => {
  const vendor = await service.newVendor()
  const entries = Array.from({ length: 50 }, (_, number) => stone({ sku: `K-${number}` }))
  const first = expect(201, await keyed(vendor, 'k-bulk', { entries }, '/v4/diamond/bulk'))
  assert.is(expect(201, await keyed(vendor, 'k-bulk', { entries }, '/v4/diamond/bulk')).text, first.text)
  assert.is(await totalOf(vendor), 50)
})

test('returns the first response again after the diamond was changed or deleted', async ({ service }) => {
  const vendor = await service.newVendor()
  const first = await keyed(vendor, 'k-later')
  await vendor.patch(`/v4/diamond/${shown(first).id}`, { price: 5 })
  assert.is(expect(201, await keyed(vendor, 'k-later')).text, first.text)
  await vendor.remove(`/v4/diamond/${shown(first).id}`)
  assert.is(expect(201, await keyed(vendor, 'k-later')).text, first.text)
  assert.is(await totalOf(vendor), 0)
})

test('is compared by its parsed body, regardless of member order and white space', async ({ service }) => {
  const vendor = await service.newVendor()
  const send = (body: string) =>
    vendor.send({ method: 'POST', path: '/v4/diamond', body, headers: { 'Idempotency-Key': 'k-body' } })
  const first = expect(201, await send('{"sku":"a","cutShape":"Round","carat":1.0,"scores":{"a":1,"b":2}}'))
  const again = await send(' { "carat" : 1e0, "scores":{"b":2,"a":1}, "cutShape":"\\u0052ound",\n"sku":"a"}')
  assert.is(expect(201, again).text, first.text)
})

test('with the same key and another body is rejected with 422 and creates nothing', async ({ service }) => {
  const vendor = await service.newVendor()
  await keyed(vendor, 'k-other')
  await expectNoChange([vendor], async () => {
    refusal(422, await keyed(vendor, 'k-other', stone({ price: 1 })))
    refusal(422, await keyed(vendor, 'k-other', stone({ sku: 'OTHER' })))
  })
})

test('is compared without the ignored members of its body', async ({ service }) => {
  const vendor = await service.newVendor()
  const first = expect(201, await keyed(vendor, 'k-ignored'))
  const ignored = { scores: [], _links: {}, id: 7, price: null }
  assert.is(expect(201, await keyed(vendor, 'k-ignored', stone(ignored))).text, first.text)
  assert.is(await totalOf(vendor), 1)
})

test('is scoped to its account, path and API version', async ({ service }) => {
  const [ann, bob] = [await service.newVendor(), await service.newVendor()]
  const responses = [
    await keyed(ann, 'k-same'),
    await keyed(bob, 'k-same'),
    await keyed(ann, 'k-same', stoneV3(), '/v3/diamond'),
  ]
  assert.is(idsOf(responses.map((response) => expect(201, response))).size, 3)
  expect(201, await keyed(ann, 'k-same', { entries: [stone()] }, '/v4/diamond/bulk'))
  expect(201, await keyed(ann, 'K-SAME'))
  assert.is(await totalOf(ann), 4)
})

test('waits for the response of a concurrent one with the same key', async ({ service }) => {
  const vendor = await service.newVendor()
  const responses = await Promise.all(Array.from({ length: 20 }, () => keyed(vendor, 'k-race')))
  assert.ok(responses.every(({ status }) => status === 201))
  assert.is(idsOf(responses).size, 1)
  assert.is(await totalOf(vendor), 1)
})

test('is rejected if a concurrent one has the same key and another body', async ({ service }) => {
  const vendor = await service.newVendor()
  const responses = await Promise.all([1, 2].map((price) => keyed(vendor, 'k-two', stone({ price }))))
  assert.equal(responses.map(({ status }) => status).sort(), [201, 422])
  assert.is(await totalOf(vendor), 1)
})

test('does not use up its key if it is rejected', async ({ service }) => {
  const vendor = await service.newVendor()
  refusal(422, await keyed(vendor, 'k-free', stone({ carat: -1 })))
  refusal(422, await keyed(vendor, 'k-free', { entries: [] }, '/v4/diamond/bulk'))
  refusal(
    400,
    await vendor.send({ method: 'POST', path: '/v4/diamond', body: '{', headers: { 'Idempotency-Key': 'k-free' } }),
  )
  expect(201, await keyed(vendor, 'k-free', stone({ carat: 2 })))
  expect(201, await keyed(vendor, 'k-free', { entries: [stone()] }, '/v4/diamond/bulk'))
})

test('is recognised for 24 hours; then the key can be reused', async ({ service }) => {
  const vendor = await service.newVendor()
  const first = shown(await keyed(vendor, 'k-day'))
  time.now += 24 * HOUR - 1
  assert.is(shown(await keyed(vendor, 'k-day')).id, first.id)
  refusal(422, await keyed(vendor, 'k-day', stone({ price: 1 })))
  time.now += 1
  const second = shown(expect(201, await keyed(vendor, 'k-day', stone({ price: 1 }))))
  assert.is.not(second.id, first.id)
  assert.is(shown(await keyed(vendor, 'k-day', stone({ price: 1 }))).id, second.id)
})

test('accepts keys of 1 to 255 printable characters', async ({ ann }) => {
  for (const key of ['x', '~!@#$%^&*() "\'', 'k'.repeat(255)]) expect(201, await keyed(ann, key))
  for (const key of ['', 'k'.repeat(256), 'schlüssel', 'tab\there']) refusal(400, await keyed(ann, key))
})

test('has a key that changes and deletions ignore', async ({ ann }) => {
  const { id } = shown(await keyed(ann, 'k-create'))
  const headers = { 'Idempotency-Key': 'k-change' }
  expect(200, await ann.patch(`/v4/diamond/${id}`, { price: 1 }, headers))
  expect(200, await ann.patch(`/v4/diamond/${id}`, { price: 2 }, headers))
  expect(204, await ann.remove(`/v4/diamond/${id}`, undefined, headers))
})

test('is rejected for errors of its body before its key is checked', async ({ service }) => {
  const vendor = await service.newVendor()
  await keyed(vendor, 'k-fault')
  assert.equal(pointers(refusal(422, await keyed(vendor, 'k-fault', stone({ sku: '' })))), ['/sku'])
  assert.is(list(await vendor.get('/v4/diamond')).length, 1)
})

test.run()
