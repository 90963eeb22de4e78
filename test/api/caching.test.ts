import * as assert from 'uvu/assert'
import { attached } from './harness/form.ts'
import { request } from './harness/request.ts'
import { newSender } from './harness/secrets.ts'
import { apiSuite } from './harness/service.ts'
import { created } from './harness/stones.ts'
import { sampleRequests, withHeaders } from './harness/sample-requests.ts'

const test = apiSuite('Cache-Control')

const PRIVATE = 'private, no-cache'

test('is private and requires revalidation for the diamonds of an account, on every endpoint', async ({
  service,
  ann,
}) => {
  const { one, list, create, bulk } = await sampleRequests(service, ann)
  const routed = { Authorization: `bearer ${ann.token}` }
  for (const sample of [one, list, create, bulk].flatMap((plain) => [plain, withHeaders(plain, routed)])) {
    const { headers, status } = await service.send(sample)
    assert.is(headers['cache-control'], PRIVATE, `${sample.method ?? 'GET'} ${sample.path}`)
    if (sample.path === one.path) assert.ok(headers.etag !== undefined && status === 200)
  }
  const { id } = await created(ann)
  const others = [
    await ann.get(`/v4/diamond/${id}`, { 'If-None-Match': '*' }),
    await ann.get('/v3/diamond?f[sku][]=nobody%20has%20it'),
    await ann.get('/v4/diamond/0'),
    await ann.get('/v4/diamond?limit=x'),
    await ann.patch(`/v3/diamond/${id}`, { price: 1 }),
    await ann.patch('/v4/diamond/bulk', { entries: [{ id, price: 2 }] }),
    await ann.post('/v4/diamond', {}),
    await ann.post('/v4/certification', { product: id, laboratory: 'GIA' }),
    await ann.remove(`/v4/certification/${(await attached(ann, id)).id}`),
    await ann.remove(`/v4/diamond/${id}`),
  ]
  for (const { headers, status } of others) assert.is(headers['cache-control'], PRIVATE, String(status))
})

test('is no-store for tokens and secrets', async ({ service }) => {
  const { url } = service
  const { authorization } = await newSender(service.installation)
  for (const [method, path] of [
    ['POST', '/api/oauth/v2/token'],
    ['POST', '/api/oauth/v2/revoke'],
    ['POST', '/api/oauth/v2/introspect'],
    ['POST', '/api/v1/share?secret=x'],
    ['POST', '/api/v1/generate'],
    ['POST', '/api/v1/secret/x'],
    ['GET', '/api/v1/private/recent'],
    ['GET', '/private/x'],
    ['GET', '/secret/x'],
    ['GET', '/metrics'],
    ['GET', '/health/ready'],
  ] as const) {
    const headers = { Authorization: path.includes('/oauth/') ? 'Basic eDp5' : authorization }
    assert.is((await request(url, { method, path, headers })).headers['cache-control'], 'no-store', path)
  }
})

test.run()
