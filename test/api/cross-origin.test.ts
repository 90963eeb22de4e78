import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expect, type ApiResponse } from './harness/request.ts'
import { GENEROUS_TIMEOUT_MS, startService, type Service } from './harness/service.ts'
import { sampleRequests, withHeaders } from './harness/sample-requests.ts'

type Given = { none: Service; listed: Service; all: Service }
const test = suite<Given>('a page from another origin')
test.before(async (given) => {
  given.none = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS })
  given.listed = await startService({
    readModelTimeoutMs: GENEROUS_TIMEOUT_MS,
    settings: { CORS_ORIGINS: 'https://Shop.example.com:443/, http://localhost:3000,capacitor://localhost' },
  })
  given.all = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, settings: { CORS_ORIGINS: '*' } })
})
test.after(async ({ none, listed, all }) => {
  for (const service of [none, listed, all]) await service.stop()
})

const SHOP = 'https://shop.example.com'
const APIS = ['one', 'list', 'create', 'bulk', 'share', 'constants'] as const
const PREFLIGHT = { 'Access-Control-Request-Method': 'PATCH', 'Access-Control-Request-Headers': 'authorization' }

const corsHeaders = ({ headers }: ApiResponse) =>
  Object.keys(headers).filter((name) => name.startsWith('access-control'))

test('cannot read any response unless CORS_ORIGINS is set', async ({ none }) => {
  for (const request of Object.values(await sampleRequests(none, none.ann))) {
    assert.equal(corsHeaders(await none.send(withHeaders(request, { Origin: SHOP }))), [])
  }
  assert.equal(corsHeaders(await none.send({ method: 'OPTIONS', path: '/v4/diamond', headers: PREFLIGHT })), [])
})

test('can read the responses of every API if its origin is listed', async ({ listed }) => {
  const requests = await sampleRequests(listed, listed.ann)
  for (const name of APIS) {
    for (const origin of [SHOP, 'http://localhost:3000', 'capacitor://localhost']) {
      const { headers } = await listed.send(withHeaders(requests[name], { Origin: origin }))
      assert.is(headers['access-control-allow-origin'], origin, name)
      assert.is(
        headers['access-control-expose-headers'],
        'X-Total-Count,Link,ETag,Location,X-Request-Id,X-App-Version,X-Consistency,Age,Retry-After,Memento-Datetime',
      )
      assert.match(String(headers.vary), /\bOrigin\b/)
    }
    for (const origin of ['https://shop.example.com.evil.example', 'http://shop.example.com', 'null', '']) {
      const response = await listed.send(withHeaders(requests[name], { Origin: origin }))
      assert.equal(corsHeaders(response), [], name)
      assert.match(String(response.headers.vary), /\bOrigin\b/)
    }
    assert.match(String((await listed.send(requests[name])).headers.vary), /\bOrigin\b/)
  }
})

test('can read error responses', async ({ listed }) => {
  const token = { Authorization: 'Bearer forged' }
  for (const path of ['/v4/diamond', '/v4/diamond/x', '/v4/nowhere', '/api/v1/nowhere', '/api/oauth/v2/token']) {
    const response = await listed.send({ path, headers: { ...token, Origin: SHOP } })
    assert.is(response.headers['access-control-allow-origin'], SHOP, `${response.status} ${path}`)
  }
})

test('can read the APIs from any origin if CORS_ORIGINS is *', async ({ all }) => {
  const requests = await sampleRequests(all, all.ann)
  for (const name of APIS) {
    const { headers } = await all.send(withHeaders(requests[name], { Origin: 'https://anybody.example' }))
    assert.is(headers['access-control-allow-origin'], '*', name)
  }
})

test('cannot read pages, health checks or metrics', async ({ all, listed }) => {
  for (const service of [all, listed]) {
    const { page } = await sampleRequests(service, service.ann)
    for (const path of [page.path, '/metrics', '/health/ready', '/private/x', '/secret/x', '/v4', '/v44x/diamond']) {
      const response = await service.send({ path, headers: { Origin: SHOP } })
      if (path !== '/v4') assert.equal(corsHeaders(response), [], path)
    }
  }
})

test('never gets Access-Control-Allow-Credentials', async ({ all, listed }) => {
  for (const service of [all, listed]) {
    for (const request of Object.values(await sampleRequests(service, service.ann))) {
      for (const method of [request.method ?? 'GET', 'OPTIONS']) {
        const { headers } = await service.send({ ...withHeaders(request, { Origin: SHOP, ...PREFLIGHT }), method })
        assert.is(headers['access-control-allow-credentials'], undefined)
      }
    }
  }
})

test('gets preflight responses without a token, cacheable for a day', async ({ all, listed }) => {
  for (const [service, origin] of [
    [listed, SHOP],
    [all, '*'],
  ] as const) {
    const preflight = { method: 'OPTIONS', path: '/v4/diamond/7', headers: { Origin: SHOP, ...PREFLIGHT } }
    const { headers, text } = expect(204, await service.send(preflight))
    assert.is(text, '')
    assert.is(headers['access-control-allow-origin'], origin)
    assert.is(headers['access-control-max-age'], '86400')
    const methods = String(headers['access-control-allow-methods']).split(', ')
    assert.equal(methods.toSorted(), ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'PUT'])
    const accepted = String(headers['access-control-allow-headers']).toLowerCase().split(',')
    for (const name of [
      'authorization',
      'content-type',
      'if-match',
      'if-none-match',
      'idempotency-key',
      'x-request-id',
    ]) {
      assert.ok(accepted.includes(name), name)
    }
  }
})

test('gets no CORS headers from a preflight request if its origin is not listed', async ({ listed }) => {
  const preflight = {
    method: 'OPTIONS',
    path: '/v4/diamond/7',
    headers: { ...PREFLIGHT, Origin: 'https://evil.example' },
  }
  const response = expect(204, await listed.send(preflight))
  assert.equal(corsHeaders(response), [])
  assert.match(String(response.headers.vary), /\bOrigin\b/)
})

test.run()
