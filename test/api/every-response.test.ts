import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { expectRaw, sendRaw } from './harness/raw.ts'
import { expect, refusal, type ApiResponse } from './harness/request.ts'
import { apiSuite } from './harness/service.ts'
import { created, stone } from './harness/stones.ts'

const test = apiSuite('every response')

const version = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version

test('has X-App-Version with the version of the package and of the constants', async ({ ann, service }) => {
  const { id } = await created(ann)
  const constants = await service.send({ path: '/v2/constants' })
  assert.is((constants.json() as { ver: string }).ver, version)
  const responses: (readonly [status: number, answer: ApiResponse])[] = [
    [200, constants],
    [201, await ann.post('/v4/diamond', stone())],
    [204, await ann.get('/v4/diamond?f[id][]=999999')],
    [204, await ann.remove(`/v4/diamond/${id}`)],
    [304, await service.send({ path: '/v2/constants', headers: { 'If-None-Match': '*' } })],
    [400, await ann.get('/v4/diamond?limit=x')],
    [401, await service.send({ path: '/v4/diamond' })],
    [404, await service.send({ path: '/nowhere' })],
    [404, await service.send({ path: '/diamond/1' })],
    [405, await ann.send({ method: 'POST', path: '/v4/diamond/1', json: {} })],
    [415, await ann.send({ method: 'POST', path: '/v4/diamond', json: {}, headers: { 'Content-Type': 'text/plain' } })],
    [422, await ann.post('/v4/diamond', {})],
    [200, await service.send({ path: '/health/live' })],
    [200, await service.send({ path: '/metrics' })],
    [405, await service.send({ method: 'GET', path: '/api/oauth/v2/token' })],
  ]
  for (const [status, response] of responses) {
    expect(status, response)
    assert.is(response.headers['x-app-version'], version, String(status))
  }
})

test('of the HTTP parser has the standard headers and error body, for 400 and 431', async ({ service }) => {
  const huge = 'x'.repeat(300_000)
  const cases: (readonly [status: number, bytes: string | Buffer])[] = [
    [400, 'nonsense\r\n\r\n'],
    [400, 'GET / HTTP/9.9\r\nHost: a\r\n\r\n'],
    [400, 'GET /v4/diamond HTTP/1.1\r\nHost: a\r\nBad Header: x\r\n\r\n'],
    [400, 'GET /v4/diamond HTTP/1.1\r\nHost: a\r\nX: a\u0000b\r\n\r\n'],
    [400, 'POST /v4/diamond HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n'],
    [400, 'POST /v4/diamond HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n'],
    [400, 'POST /v4/diamond HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    [400, 'GET /v4/ diamond HTTP/1.1\r\nHost: a\r\n\r\n'],
    [400, Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03])],
    [431, `GET /v4/diamond?${huge} HTTP/1.1\r\nHost: a\r\n\r\n`],
    [431, `GET /v4/diamond HTTP/1.1\r\nHost: a\r\nX: ${huge}\r\n\r\n`],
  ]
  for (const [status, bytes] of cases) {
    const response = await sendRaw(service.url, bytes)
    expectRaw(status, response)
    const { error, requestId } = JSON.parse(response.body) as { error: string[]; requestId: string }
    assert.ok(error.length === 1 && response.text.includes(`X-Request-Id: ${requestId}`))
  }
})

test('to an unusual but valid request has the standard headers', async ({ service, ann }) => {
  const end = 'Connection: close\r\n\r\n'
  const body = JSON.stringify(stone())
  const cases: (readonly [status: number, bytes: string])[] = [
    [400, `GET /v2/constants HTTP/1.1\r\n${end}`],
    [200, `GET /v2/constants HTTP/1.0\r\n${end}`],
    [200, `GET http://example.com/v2/constants HTTP/1.1\r\nHost: a\r\n${end}`],
    [400, `GET http://[::1/v2/constants HTTP/1.1\r\nHost: a\r\n${end}`],
    [204, `OPTIONS * HTTP/1.1\r\nHost: a\r\n${end}`],
    [404, `GET //a//b?x HTTP/1.1\r\nHost: a\r\n${end}`],
    [405, `PROPFIND /v4/diamond HTTP/1.1\r\nHost: a\r\n${end}`],
    [405, `TRACE /v4/diamond HTTP/1.1\r\nHost: a\r\n${end}`],
    [401, `GET /v4/diamond/%zz HTTP/1.1\r\nHost: a\r\n${end}`],
    [200, `GET /v2/constants HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade, close\r\n\r\n`],
    [200, `GET /v2/constants HTTP/1.1\r\nHost: a\r\nExpect: the unexpected\r\n${end}`],
    [
      201,
      `POST /v4/diamond HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${ann.token}\r\nExpect: 100-continues\r\n` +
        `Content-Length: ${body.length}\r\n${end}${body}`,
    ],
  ]
  for (const [status, bytes] of cases) expectRaw(status, await sendRaw(service.url, bytes))
})

test('repeats the request id in the error body', async ({ ann }) => {
  for (const id of ['0af7651916cd43dd8448eb211c80319c', '|a.b', 'a "quoted" one']) {
    assert.is(refusal(404, await ann.get('/v4/diamond/0', { 'X-Request-Id': id })).requestId, id)
  }
})

test('has a request id that is the correlation id of the written events', async ({ ann, service }) => {
  const response = await ann.post('/v4/diamond', stone(), { 'X-Request-Id': 'trace-7' })
  const { id } = response.json() as { id: number }
  const [event] = await service.installation.store.readStream(`diamond-${id}`)
  assert.is(event?.metadata['$correlationId'], 'trace-7')
  assert.is(event?.metadata['actor'], `account-${ann.account}`)
})

for (const [path, methods] of [
  ['/v4/diamond', ['GET', 'HEAD', 'POST']],
  ['/v4/diamond/1', ['DELETE', 'GET', 'HEAD', 'PATCH', 'PUT']],
  ['/v3/diamond', ['GET', 'HEAD', 'POST']],
  ['/v4/certification', ['POST']],
  ['/v2/constants', ['GET', 'HEAD']],
  ['/v2/cutshapes/2', ['GET', 'HEAD']],
  ['/health/ready', ['GET', 'HEAD']],
  ['/api/oauth/v2/token', ['POST']],
  ['/api/v1/share', ['POST']],
  ['/diamond/1', ['GET', 'HEAD']],
] as const) {
  const allow = [...methods, 'OPTIONS'].toSorted()

  test(`to an unsupported method on ${path} is 405 with Allow`, async ({ ann }) => {
    const wrong = ['DELETE', 'POST', 'PUT', 'PATCH', 'PROPFIND', 'MKCOL'].filter((method) => !allow.includes(method))
    for (const method of wrong) {
      const response = expect(405, await ann.send({ method, path }))
      assert.equal(String(response.headers.allow).split(', ').sort(), allow)
    }
  })

  test(`to OPTIONS on ${path} is 204 with Allow, whatever the credentials`, async ({ service }) => {
    for (const headers of [{}, { Authorization: 'Bearer forged' }, { Authorization: 'Basic Zm86YmFy' }]) {
      const response = expect(204, await service.send({ method: 'OPTIONS', path, headers }))
      assert.equal(String(response.headers.allow).split(', ').sort(), allow)
      assert.equal([response.text, response.headers['content-type']], ['', undefined])
    }
  })
}

for (const path of [
  '/v4',
  '/v4/',
  '/v4/diamonds',
  '/v5/diamond',
  '/V4/diamond',
  '/v4/diamond/1/2',
  '/v4%2Fdiamond',
  '/..%2f',
  '/%00',
  '/api',
  '/api/oauth',
  `/${'x'.repeat(5000)}`,
]) {
  test(`to ${path.slice(0, 30)} is 404`, async ({ ann }) => {
    for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
      const response = expect(404, await ann.send({ method, path }))
      assert.ok(response.text.length < 1000)
    }
  })
}

test('to an id with encoded slashes, NULs or an incomplete escape is 404', async ({ ann }) => {
  for (const id of [
    '1%2F2',
    '%00',
    '1%00',
    '%',
    '%zz',
    '%C3',
    '..%2f..%2fetc%2fpasswd',
    '%E2%82%AC',
    '%0d%0aX-Evil:%201',
  ]) {
    for (const version of ['v3', 'v4']) {
      const response = await ann.get(`/${version}/diamond/${id}`)
      refusal(404, response)
      assert.is(response.headers['x-evil'], undefined)
    }
    expect(404, await ann.get(`/diamond/${id}`))
    expect(404, await ann.get(`/v2/cutshapes/${id}`))
  }
})

test('to HEAD has the status of GET and no body', async ({ ann, service }) => {
  const { id } = await created(ann)
  for (const path of [
    '/v4/diamond',
    `/v3/diamond/${id}`,
    '/v4/diamond/0',
    '/v4/diamond?limit=0',
    '/v2/constants',
    '/v2/cutshapes/x',
    '/health/live',
    '/nowhere',
    '/diamond/0',
  ]) {
    const [get, head] = [await ann.get(path), await ann.send({ method: 'HEAD', path })]
    assert.equal([head.status, head.text], [get.status, ''], path)
    assert.is(head.headers['content-type'], get.headers['content-type'], path)
  }
  expect(401, await service.send({ method: 'HEAD', path: '/v4/diamond' }))
})

test.run()
