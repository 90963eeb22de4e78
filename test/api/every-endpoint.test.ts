import * as assert from 'uvu/assert'
import { expectRaw, sendRaw } from './harness/raw.ts'
import { expect, type Request } from './harness/request.ts'
import { apiSuite, GENEROUS_TIMEOUT_MS, startService } from './harness/service.ts'
import { created, shown, stone } from './harness/stones.ts'
import { rawBytes, sampleRequests, withHeaders } from './harness/sample-requests.ts'

const test = apiSuite('every endpoint')

const statusOf = (name: string) => ({ create: 201, bulk: 201, nowhere: 404 })[name] ?? 200

test('rejects a request without a Host header, or with two, with 400', async ({ service, ann }) => {
  for (const [name, request] of Object.entries(await sampleRequests(service, ann))) {
    expectRaw(statusOf(name), await sendRaw(service.url, rawBytes(request, ['Host: a'])))
    expectRaw(400, await sendRaw(service.url, rawBytes(request, [])))
    expectRaw(400, await sendRaw(service.url, rawBytes(request, ['Host: a', 'HOST: b'])))
  }
})

test('writes nothing for a request rejected for its Host header', async ({ service }) => {
  const vendor = await service.newVendor()
  const { create, bulk } = await sampleRequests(service, vendor)
  for (const request of [create, bulk]) expectRaw(400, await sendRaw(service.url, rawBytes(request, [])))
  assert.is((await vendor.get('/v4/diamond')).headers['x-total-count'], '1')
})

test('keeps a request id of 1 to 128 printable ASCII characters, including inner spaces', async ({ service, ann }) => {
  const requests = Object.values(await sampleRequests(service, ann))
  const kept = ['|7f9c.1a', 'a;b', '{0a-1b}', 'two words', 'a,b', `a"b'c<d>\\e`, '~!@#$%^&*()', 'x'.repeat(128)]
  for (const request of requests) {
    for (const id of kept) {
      assert.is((await service.send(withHeaders(request, { 'X-Request-Id': id }))).headers['x-request-id'], id)
    }
    for (const id of ['x'.repeat(129), 'a\tb', 'é', '', ['a', 'b']]) {
      const response = await service.send(withHeaders(request, { 'X-Request-Id': id }))
      assert.match(String(response.headers['x-request-id']), /^[0-9a-f]{8}-[0-9a-f-]{27}$/, JSON.stringify(id))
    }
  }
})

test('uses the request id as the correlation id of written events', async ({ service, ann }) => {
  const { create, bulk } = await sampleRequests(service, ann)
  for (const request of [create, bulk]) {
    const response = await service.send(withHeaders(request, { 'X-Request-Id': '|trace;7 of 9' }))
    const id = /"id":(\d+)/.exec(response.text)?.[1]
    const [event] = await service.installation.store.readStream(`diamond-${id}`)
    assert.is(event?.metadata['$correlationId'], '|trace;7 of 9')
  }
})

test('ignores doubled slashes and a trailing slash in the path', async ({ service, ann }) => {
  for (const [name, request] of Object.entries(await sampleRequests(service, ann))) {
    const plain = expect(statusOf(name), await service.send(request))
    for (const path of [`${request.path}/`, request.path.replaceAll('/', '//'), `//${request.path}//?_=a//b/`]) {
      const response = expect(statusOf(name), await service.send({ ...request, path }))
      if (name === 'one' || name === 'constants') assert.is(response.text, plain.text, path)
    }
  }
  const absolute = rawBytes({ path: 'http://example.com//v2///constants/' }, ['Host: example.com'])
  expectRaw(200, await sendRaw(service.url, absolute))
  assert.is(expect(200, await service.send({ path: '//' })).text, expect(200, await service.send({ path: '/' })).text)
})

test('returns links without doubled or trailing slashes', async ({ service }) => {
  const vendor = await service.newVendor()
  await created(vendor)
  const { headers } = await vendor.get('//v4//diamond/?limit=1')
  assert.ok(String(headers.link).includes(`<${service.url}/v4/diamond?limit=1&offset=0>; rel="first"`))
})

test('recognises an Idempotency-Key whatever the number of slashes in the path', async ({ ann }) => {
  const key = { 'Idempotency-Key': 'slashes' }
  const first = expect(201, await ann.post('/v4/diamond', stone(), key))
  for (const path of ['/v4/diamond/', '//v4//diamond']) {
    assert.is(shown(expect(201, await ann.post(path, stone(), key))).id, shown(first).id, path)
  }
})

test('sends nosniff, and HSTS only if the public URL is https', async ({ service, ann }) => {
  const refused: readonly string[] = ['nonsense\r\n\r\n', 'CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n']
  const https = await startService({
    readModelTimeoutMs: GENEROUS_TIMEOUT_MS,
    settings: { BASE_URL: 'https://api.example.com' },
  })
  try {
    for (const [server, expected] of [
      [service, undefined],
      [https, 'max-age=31536000'],
    ] as const) {
      const requests = await sampleRequests(server, server === service ? ann : server.ann)
      for (const request of [...Object.values(requests), ...furtherRequests(requests.one)]) {
        const { headers } = await server.send(request)
        assert.is(headers['x-content-type-options'], 'nosniff', request.path)
        assert.is(headers['strict-transport-security'], expected, request.path)
      }
      for (const bytes of refused) {
        const { text } = await sendRaw(server.url, bytes)
        assert.match(text, /^x-content-type-options: nosniff\r$/im)
        assert.is(/^strict-transport-security: (.*)\r$/im.exec(text)?.[1], expected)
      }
    }
  } finally {
    await https.stop()
  }
})

/** Requests for responses without a body, for errors and for monitoring. */
const furtherRequests = (one: Request): Request[] => [
  withHeaders(one, { 'If-None-Match': '*' }),
  withHeaders({ path: '/v4/diamond?f[sku][]=nobody%20has%20it' }, one.headers),
  { path: '/v4/diamond' },
  { path: '/v4/diamond?limit=x', ...(one.headers && { headers: one.headers }) },
  { method: 'OPTIONS', path: '/v4/diamond' },
  { method: 'HEAD', path: '/v2/constants' },
  { path: '/health/live' },
  { path: '/metrics' },
  { method: 'POST', path: '/api/oauth/v2/token' },
]

test.run()
