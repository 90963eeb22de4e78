import * as assert from 'uvu/assert'
import type { Vendor } from './harness/account.ts'
import { expect, type Answer } from './harness/request.ts'
import { apiSuite } from './harness/service.ts'
import { shown, stone, stoneV3 } from './harness/stones.ts'

const test = apiSuite('a diamond created without the framework')

const JSON_TYPE = { 'Content-Type': 'application/json' }

/** A scheme that is not written as usual is left to the framework's routes. */
async function bothWays(vendor: Vendor, path: string, body: string, headers = JSON_TYPE): Promise<[Answer, Answer]> {
  const ask = { method: 'POST', path, body }
  return [
    await vendor.send({ ...ask, headers }),
    await vendor.send({ ...ask, headers: { ...headers, Authorization: routed(vendor, headers) } }),
  ]
}

const routed = ({ token }: Vendor, headers: Readonly<Record<string, string>>) =>
  (headers['Authorization'] ?? `Bearer ${token}`).replace(/^Bearer/, 'bearer')

/** Without what differs between two creations of the same: the id, the date, the request. */
function comparable({ status, headers, text }: Answer) {
  const { 'x-request-id': _id, date: _date, location, ...rest } = headers
  return {
    status,
    location: location?.replace(/\d+$/, 'ID'),
    // A diamond's id is one digit longer in one answer than in the other, once in ten.
    headers: Object.entries({ ...rest, 'content-length': '' }).toSorted(),
    text: text
      .replaceAll(/"requestId":"[^"]*"/g, '')
      .replaceAll(/"date":"[^"]*"/g, '')
      .replaceAll(/("id":|diamond\/)\d+/g, '$1')
      .replaceAll(/signature=[\w-]+/g, 'signature'),
  }
}

const bodies: readonly (readonly [path: string, body: string])[] = [
  ['/v4/diamond', JSON.stringify(stone({ color: 'D', isColored: true, access: 0 }))],
  ['/v4/diamond', JSON.stringify(stone({ sku: 'Διαμάντι 💎', id: 7, scores: {} }))],
  ['/v3/diamond', JSON.stringify(stoneV3({ color: 8 }))],
  ['/v4/diamond', `\u{FEFF}${JSON.stringify(stone())}`],
  ['/v4/diamond', '{"sku":'],
  ['/v4/diamond', ''],
  ['/v4/diamond', 'null'],
  ['/v4/diamond', '[]'],
  ['/v4/diamond', JSON.stringify(stone({ carat: -1, colour: 'D' }))],
  ['/v3/diamond', JSON.stringify(stone())],
  ['/v4/diamond', `${'['.repeat(200)}${']'.repeat(200)}`],
  ['/v4/diamond', JSON.stringify(stone({ sku: 'x'.repeat(20_000) }))],
  ['/v4/diamond?x=1', JSON.stringify(stone())],
]

test('is answered as by the routes, whatever is sent', async ({ ann }) => {
  for (const [path, body] of bodies) {
    const [direct, routed] = await bothWays(ann, path, body)
    assert.equal(comparable(direct), comparable(routed), `${path} ${body.slice(0, 80)}`)
  }
})

test('is answered as by the routes, whatever the headers say', async ({ ann }) => {
  const body = JSON.stringify(stone())
  const variants: readonly Record<string, string>[] = [
    { 'Content-Type': 'text/plain' },
    { 'Content-Type': 'application/json; charset=utf-8' },
    { ...JSON_TYPE, 'Content-Encoding': 'gzip' },
    { ...JSON_TYPE, 'Idempotency-Key': '' },
    { ...JSON_TYPE, Authorization: 'Bearer forged' },
    { ...JSON_TYPE, Authorization: '' },
  ]
  for (const headers of variants) {
    const [direct, routed] = await bothWays(ann, '/v4/diamond', body, headers as typeof JSON_TYPE)
    assert.equal(comparable(direct), comparable(routed), JSON.stringify(headers))
  }
})

test('is there for the next read, once, with its creator and its request in the log', async ({ ann, service }) => {
  const answer = expect(201, await ann.post('/v4/diamond', stone({ sku: 'ONCE' })))
  const { id } = shown(answer)
  assert.is(shown(expect(200, await ann.get(`/v4/diamond/${id}`))).sku, 'ONCE')
  const [event] = await service.installation.store.read(`diamond-${id}`)
  assert.is(event?.metadata['actor'], `account-${ann.account}`)
  assert.is(event?.metadata['$correlationId'], answer.headers['x-request-id'])
  const mine = expect(200, await ann.get('/v4/diamond?f[sku][]=ONCE'))
  assert.is(mine.headers['x-total-count'], '1')
})

test.run()
