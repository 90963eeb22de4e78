import { createHmac } from 'node:crypto'
import * as assert from 'uvu/assert'
import { revokeToken } from '../../src/commands/sessions/token-introspection.ts'
import { AccessTokens } from '../../src/credentials/access-tokens.ts'
import { vendor } from './harness/account.ts'
import { expect, refusal, type Request } from './harness/request.ts'
import { apiSuite, untilDelivered } from './harness/service.ts'
import { expectNoChange, created, stone } from './harness/stones.ts'

const time = { now: Date.now() }
const test = apiSuite('a diamond request', { clock: () => time.now })

/** Every diamond request, for the diamond with this id. */
const requests = (id: number): Request[] =>
  ['v3', 'v4'].flatMap((version) => [
    { path: `/${version}/diamond` },
    { method: 'POST', path: `/${version}/diamond`, json: stone({ cutShape: 2 }) },
    { method: 'POST', path: `/${version}/diamond/bulk`, json: { entries: [stone({ cutShape: 2 })] } },
    ...onOne(version, id),
  ])

const onOne = (version: string, id: number): Request[] => [
  { path: `/${version}/diamond/${id}` },
  { method: 'HEAD', path: `/${version}/diamond/${id}` },
  ...['PUT', 'PATCH'].map((method) => ({ method, path: `/${version}/diamond/${id}`, json: { price: 1 } })),
  ...['PUT', 'PATCH'].map((method) => ({ method, path: `/${version}/diamond/bulk`, json: { entries: [{ id }] } })),
  { method: 'DELETE', path: `/${version}/diamond/${id}` },
  { method: 'DELETE', path: `/${version}/diamond/bulk`, json: { entries: [{ id }] } },
]

test('without a token is 401 with a challenge that names no error', async ({ ann, service }) => {
  const { id } = await created(ann)
  await expectNoChange([ann], async () => {
    for (const request of requests(id)) {
      const response = expect(401, await service.send(request))
      assert.is(response.headers['www-authenticate'], 'Bearer realm="adamant"')
    }
  })
})

test('with a forged, truncated or foreign token is 401', async ({ ann, bob, service }) => {
  const { id } = await created(ann)
  const parts = ann.token.split('.')
  const claims = Buffer.from(String(parts[2]), 'base64url').toString()
  const other = Buffer.from(claims.replace(/^\[\d+/, `[${bob.account}`)).toString('base64url')
  const unsigned = `${parts[0]}.${parts[1]}.${other}`
  const forged = [
    `${unsigned}.${parts[3]}`,
    `${unsigned}.${createHmac('sha256', 'guess').update(unsigned).digest('base64url')}`,
    ann.token.slice(0, -1),
    `${ann.token}A`,
    `${ann.token}.`,
    ann.token.replace('v1', 'v2'),
    'x',
    'undefined',
    '....',
    'v1.a.b.c',
    'A'.repeat(10_000),
  ]
  await expectNoChange([ann], async () => {
    for (const token of forged) {
      for (const request of onOne('v4', id).slice(0, 3)) {
        const response = expect(401, await vendor(service.url, 0, token).send(request))
        assert.match(String(response.headers['www-authenticate']), /^Bearer realm="adamant", error="invalid_token"/)
      }
    }
  })
})

test('with an Authorization header that is not a bearer token is 401', async ({ ann, service }) => {
  for (const Authorization of [
    '',
    'Bearer',
    'Bearer ',
    `Token ${ann.token}`,
    ann.token,
    'Basic YTpi',
    `Bearer ${ann.token} x`,
    `Bearer a b`,
  ]) {
    expect(401, await service.send({ path: '/v4/diamond', headers: { Authorization } }))
  }
  expect(401, await service.send({ path: `/v4/diamond?access_token=${ann.token}` }))
})

test('with the authentication scheme in any case is accepted', async ({ service }) => {
  const vendor = await service.newVendor()
  for (const scheme of ['bearer', 'BEARER']) {
    expect(204, await service.send({ path: '/v4/diamond', headers: { Authorization: `${scheme} ${vendor.token}` } }))
  }
})

test('with an expired token is 401', async ({ service }) => {
  const vendor = await service.newVendor()
  time.now += 604_800_000 - 1
  expect(204, await vendor.get('/v4/diamond'))
  time.now += 1
  const response = expect(401, await vendor.get('/v4/diamond'))
  assert.match(String(response.headers['www-authenticate']), /error="invalid_token".*expired/)
  time.now -= 604_800_000
})

test('with a revoked token is 401 from the next request on', async ({ service }) => {
  const vendor = await service.newVendor()
  expect(204, await vendor.get('/v4/diamond'))
  const { context, store, keys, settings } = service.installation
  const tokens = new AccessTokens({ keys, ttl: settings.TOKEN_TTL, clock: context.clock })
  const claims = tokens.verify(vendor.token)
  if (typeof claims === 'string') throw new Error(claims)
  const noLogging = { note: () => {}, security: () => {} }
  const sessions = { ...context, ...noLogging, store, tokens, refreshTtl: settings.REFRESH_TTL, logEpoch: () => 0 }
  const origin = { actor: 'tests', via: 'http', correlation: 'test' } as const
  await revokeToken(sessions, { token: vendor.token, client: claims.client }, origin)
  await untilDelivered('the revocation', async () => (await vendor.get('/v4/diamond')).status === 401)
  for (const request of requests(1)) expect(401, await vendor.send(request))
})

test('for a diamond of another account is 403 and changes nothing', async ({ ann, bob }) => {
  const { id } = await created(ann)
  await expectNoChange([ann, bob], async () => {
    for (const version of ['v3', 'v4']) {
      for (const request of onOne(version, id)) expect(403, await bob.send(request))
    }
  })
})

test('for a diamond of another account reveals nothing about it', async ({ ann, bob }) => {
  const { id } = await created(ann, { sku: 'CONFIDENTIAL' })
  for (const headers of [{}, { 'If-None-Match': '"0.0"' }, { 'If-None-Match': '*' }]) {
    const response = await bob.get(`/v4/diamond/${id}`, headers)
    refusal(403, response)
    assert.is(response.headers.etag, undefined)
    assert.not.match(response.text, 'CONFIDENTIAL')
  }
})

test('for a deleted diamond of another account is 404, as for its owner', async ({ ann, bob }) => {
  const { id } = await created(ann)
  await ann.remove(`/v4/diamond/${id}`)
  for (const client of [ann, bob]) for (const request of onOne('v4', id)) expect(404, await client.send(request))
})

test('with several errors returns 401 first, then 422, then 403, then 412 or 404', async ({ ann, bob, service }) => {
  const { id } = await created(ann)
  const bad = { price: -1 }
  const stale = { 'If-Match': '"9.0"' }
  await expectNoChange([ann, bob], async () => {
    expect(401, await service.send({ method: 'PATCH', path: `/v4/diamond/${id}`, json: bad }))
    expect(422, await bob.patch(`/v4/diamond/${id}`, bad, stale))
    expect(403, await bob.patch(`/v4/diamond/${id}`, { price: 1 }, stale))
    expect(412, await ann.patch(`/v4/diamond/${id}`, { price: 1 }, stale))
    for (const unknown of ['9007199254740991', 'abc', '0', '9007199254740993']) {
      expect(422, await ann.patch(`/v4/diamond/${unknown}`, bad))
      expect(404, await ann.patch(`/v4/diamond/${unknown}`, { price: 1 }, stale))
    }
  })
})

test.run()
