import { PassThrough, Readable } from 'node:stream'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import { RequestError } from '../../../src/domain/request-error.ts'
import { createResponse, contentResponse, created, noContent, ok } from '../../../src/http/kit/response.ts'
import { json } from '../../../src/http/kit/json-body.ts'
import {
  publicAccess,
  endpoint,
  type RequestBody,
  type Endpoint,
  type EndpointGroup,
  type Authenticator,
} from '../../../src/http/kit/endpoint.ts'
import { platformGroup, ErrorWithHeaders } from '../../../src/http/kit/errors.ts'
import { withEndpoints } from './endpoint-server.ts'

const test = suite('an endpoint')

type Shelf = { readonly shelf: Map<string, unknown> }

const VERSION = z.enum(['v3', 'v4'])
const NAME = z.string()

const guest: Authenticator<{ readonly name: string }> = {
  scheme: 'none',
  errorStatuses: [401],
  authenticate({ headers }) {
    const name = headers['x-name']
    if (typeof name === 'string') return { name }
    throw new ErrorWithHeaders({ 'WWW-Authenticate': 'Name' }, new RequestError('unauthenticated', 'Who are you?'))
  },
}

const shelves: EndpointGroup = {
  tag: 'Shelves',
  pathPrefixes: ['/v3/shelf', '/v4/shelf'],
  errorFormat: { mediaType: 'application/json' },
  headers: { 'X-Shelf': 'yes' },
  errorResponse: ({ status, faults }, _error, { params }) =>
    createResponse(status, { shelf: faults[0]?.message, at: params }),
}

const common = { summary: 'A test.', pathParameters: { version: VERSION, name: NAME }, group: shelves } as const

const read = endpoint({
  ...common,
  operationId: 'readThing',
  method: 'GET',
  path: '/{version}/shelf/{name}',
  auth: publicAccess,
  headers: { 'Cache-Control': 'no-cache' },
  responses: { 200: 'The thing', 404: 'None' },
  handler({ params: { version, name } }, { shelf }: Shelf) {
    if (!shelf.has(name)) throw new RequestError('missing', 'Nothing there')
    return ok({ version, name, thing: shelf.get(name) })
  },
})

const put = endpoint({
  ...common,
  operationId: 'putThing',
  method: ['PUT', 'PATCH'],
  path: '/{version}/shelf/{name}',
  auth: guest,
  body: json(),
  responses: { 201: 'It is there' },
  async handler({ params: { version, name }, state, request: { body } }, { shelf }: Shelf) {
    shelf.set(name, { of: state.principal.name, body })
    return created(`/${version}/shelf/${name}`, {}, { 'Cache-Control': 'no-store' })
  },
})

const all = endpoint({
  operationId: 'countThings',
  method: 'GET',
  path: ['/v4/shelf/all', '/v4/shelf/every'],
  summary: 'A test.',
  auth: publicAccess,
  group: shelves,
  responses: { 200: 'How many' },
  handler: ({ querystring: search, method, ip }, { shelf }: Shelf) =>
    ok({ count: shelf.size, search, method, address: ip }),
})

const endpoints: readonly Endpoint<Shelf>[] = [read, put, all]
const request = (url: string, init: RequestInit = {}) => fetch(url, init)
const withShelf = (run: (url: string, shelf: Map<string, unknown>) => Promise<void>) => {
  const shelf = new Map<string, unknown>([['a b', 1]])
  return withEndpoints(endpoints, { shelf }, ({ url }) => run(url, shelf))
}

test('answers at its path and gets the path parameters', () =>
  withShelf(async (url) => {
    for (const version of ['v3', 'v4']) {
      const found = await request(`${url}/${version}/shelf/a%20b`)
      assert.is(found.status, 200)
      assert.equal(await found.json(), { version, name: 'a b', thing: 1 })
      assert.is(found.headers.get('content-type'), 'application/json; charset=utf-8')
      assert.equal([found.headers.get('x-shelf'), found.headers.get('cache-control')], ['yes', 'no-cache'])
    }
  }))

test('answers 404 for a version that it does not declare', () =>
  withShelf(async (url) => assert.is((await request(`${url}/v5/shelf/a`)).status, 404)))

test('without path parameters takes precedence over one with them, for all methods', () =>
  withShelf(async (url) => {
    for (const name of ['all', 'every']) {
      assert.is((await request(`${url}/v4/shelf/${name}`)).status, 200)
      const refused = await request(`${url}/v4/shelf/${name}`, { method: 'PUT', body: '1', headers: { 'x-name': 'a' } })
      assert.equal([refused.status, refused.headers.get('allow')], [405, 'HEAD, GET, OPTIONS'])
    }
    assert.is((await request(`${url}/v3/shelf/all`)).status, 404)
  }))

test('answers other methods with 405 and Allow, and OPTIONS with the same list', () =>
  withShelf(async (url) => {
    const refused = await request(`${url}/v4/shelf/x`, { method: 'DELETE' })
    const options = await request(`${url}/v4/shelf/x`, { method: 'OPTIONS' })
    const allow = 'HEAD, GET, PUT, PATCH, OPTIONS'
    assert.equal([refused.status, refused.headers.get('allow')], [405, allow])
    assert.equal([options.status, options.headers.get('allow'), await options.text()], [204, allow, ''])
    assert.is(refused.headers.get('cache-control'), null)
  }))

test('answers HEAD like GET, without the body', () =>
  withShelf(async (url) => {
    const [got, head] = [
      await request(`${url}/v4/shelf/a%20b`),
      await request(`${url}/v4/shelf/a%20b`, { method: 'HEAD' }),
    ]
    assert.is(head.headers.get('content-length'), got.headers.get('content-length'))
    assert.equal([head.status, await head.text()], [200, ''])
  }))

test('authenticates a request before it reads the body', () =>
  withShelf(async (url, shelf) => {
    const unread = await request(`${url}/v4/shelf/x`, { method: 'PUT', body: '{' })
    assert.equal([unread.status, unread.headers.get('www-authenticate')], [401, 'Name'])
    const wrong = await request(`${url}/v4/shelf/x`, { method: 'PUT', body: '{', headers: { 'x-name': 'ann' } })
    assert.is(wrong.status, 415)
    const headers = { 'x-name': 'ann', 'content-type': 'application/json' }
    assert.is((await request(`${url}/v4/shelf/x`, { method: 'PUT', body: '{', headers })).status, 400)
    const done = await request(`${url}/v4/shelf/x`, { method: 'PATCH', body: '{"a":1}', headers })
    assert.equal([done.status, done.headers.get('location')], [201, '/v4/shelf/x'])
    assert.is(done.headers.get('cache-control'), 'no-store')
    assert.equal(shelf.get('x'), { of: 'ann', body: { a: 1 } })
  }))

test("reports errors in its group's format, also for paths below it; other paths use the platform's format", () =>
  withShelf(async (url) => {
    assert.equal(await (await request(`${url}/v4/shelf/x`)).json(), {
      shelf: 'Nothing there',
      at: { version: 'v4', name: 'x' },
    })
    const below = await request(`${url}/v4/shelf/x/y`)
    assert.equal(await below.json(), { shelf: 'Not found: /v4/shelf/x/y', at: {} })
    assert.is(below.headers.get('x-shelf'), 'yes')
    const other = (await (await request(`${url}/v4/shelves`)).json()) as Record<string, unknown>
    assert.equal(other['error'], ['Not found: /v4/shelves'])
  }))

test('gets the client address from trusted proxies', () =>
  withEndpoints(
    endpoints,
    { shelf: new Map() },
    async ({ url }) => {
      const headers = { 'x-forwarded-for': '198.51.100.1, 203.0.113.7' }
      const found = (await (await request(`${url}/v4/shelf/all?x=%20`, { headers })).json()) as Record<string, unknown>
      assert.equal([found['address'], found['search']], ['203.0.113.7', 'x=%20'])
    },
    1,
  ))

test('with body-based authentication reads the body first and always releases it', async () => {
  const given: string[] = []
  const word: RequestBody<string> = {
    mediaTypes: [''],
    maxBytes: 10,
    read: ({ headers }) => String(headers['x-word']),
    release: (value) => void given.push(value),
  }
  const knows: Authenticator<string> = {
    scheme: 'none',
    errorStatuses: [401],
    needsBody: true,
    authenticate({ request: { body } }) {
      if (body !== 'sesame') throw new RequestError('unauthenticated', 'No')
      return String(body)
    },
  }
  const open = endpoint({
    operationId: 'open',
    method: 'POST',
    path: '/open',
    summary: 'A test.',
    auth: knows,
    body: word,
    group: platformGroup,
    responses: { 204: 'Open' },
    handler: ({ state, request }) => (state.principal === request.body ? noContent() : createResponse(500, {})),
  })
  await withEndpoints([open], undefined, async ({ url }) => {
    const post = async (word: string) =>
      (await request(`${url}/open`, { method: 'POST', headers: { 'x-word': word } })).status
    assert.equal([await post('sesame'), await post('barley')], [204, 401])
  })
  assert.equal(given, ['sesame', 'barley'])
})

test('can answer with a stream, which is destroyed if it is not read', async () => {
  const streams: Readable[] = []
  const file = endpoint({
    operationId: 'readFile',
    method: 'GET',
    path: '/file',
    summary: 'A test.',
    auth: publicAccess,
    group: platformGroup,
    responses: { 200: { description: 'The file', mediaType: 'application/pdf' } },
    handler({ headers }) {
      const stream = headers['x-broken'] === undefined ? Readable.from(['one', 'two']) : new PassThrough()
      streams.push(stream)
      if (headers['x-broken'] !== undefined) setImmediate(() => stream.destroy(new Error('the disk failed')))
      return contentResponse(200, 'application/pdf', stream, { 'Content-Length': '6' })
    },
  })
  await withEndpoints([file], undefined, async ({ url, faults }) => {
    const whole = await request(`${url}/file`)
    assert.equal([whole.headers.get('content-type'), await whole.text()], ['application/pdf', 'onetwo'])
    const head = await request(`${url}/file`, { method: 'HEAD' })
    assert.equal([head.status, head.headers.get('content-length')], [200, '6'])
    const broken = await request(`${url}/file`, { headers: { 'x-broken': '1' } })
      .then((found) => found.text())
      .catch(() => 'cut')
    assert.is(broken, 'cut')
    assert.equal(faults.map(String), ['Error: the disk failed'])
    assert.ok(streams.every(({ destroyed }) => destroyed))
  })
})

test('that throws answers 500 and logs the error', async () => {
  const failing = (name: string, run: () => never) =>
    endpoint({
      operationId: name,
      method: 'GET',
      path: `/${name}`,
      summary: 'A test.',
      auth: publicAccess,
      group: platformGroup,
      responses: {},
      handler: run,
    })
  const now = failing('now', () => {
    throw new Error('broken')
  })
  const unsendable = endpoint({
    ...now,
    method: 'GET',
    path: '/unsendable',
    operationId: 'unsendable',
    handler: () => ok({}, { 'X-A': '\n' }),
  })
  await withEndpoints([now, unsendable], undefined, async ({ url, faults, failed: named }) => {
    for (const path of ['now', 'unsendable']) {
      const failed = await request(`${url}/${path}`)
      const text = await failed.text()
      assert.is(failed.status, 500)
      assert.ok(!text.includes('broken') && text.includes(String(failed.headers.get('x-request-id'))))
    }
    assert.is(faults.length, 2)
    assert.equal(named, ['now', 'unsendable'])
  })
})

test('is rejected at start-up if its path and parameters differ or another has the same route', () => {
  assert.throws(() => endpoint({ ...read, method: 'GET', path: '/x/{y}' }), /readThing declares/)
  const twice = withEndpoints([read, read], { shelf: new Map() }, async () => {})
  return twice.then(
    () => assert.unreachable(),
    (error: Error) => assert.match(error.message, /both declare GET \/v3/),
  )
})

test.run()
