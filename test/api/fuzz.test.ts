import * as fc from '../fast-check.ts'
import * as assert from 'uvu/assert'
import type { Request } from './harness/request.ts'
import { apiSuite } from './harness/service.ts'
import { expectNoChange, created, stone } from './harness/stones.ts'

const RUNS = process.env['ADAMANT_FULL'] === '1' ? 20_000 : 400

const test = apiSuite('an arbitrary request')

/** Values that often cause bugs, and arbitrary ones. */
const value: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(null, true, '', 0, -0, -1, 2 ** 53, 1e308, 5e-324, '\u0000', '\ud800', 'Round', 'VS1', [], {}, [[]]),
  fc.constantFrom(2, 6, 15, 113, 200, 0.73, '__proto__', '2', 'true', 'null', 'Infinity'),
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<unknown>,
)

const field = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...Object.keys(stone()), 'price', 'isColored', 'isPublished', 'clarity') },
  {
    weight: 2,
    arbitrary: fc.constantFrom('color', 'girdle', 'culetSize', 'access', 'colorHue', 'id', 'scores', 'date'),
  },
  { weight: 1, arbitrary: fc.oneof(fc.constantFrom('__proto__', 'constructor', 'entries', ''), fc.string()) },
)

const diamond = fc
  .tuple(fc.boolean(), fc.array(fc.tuple(field, value), { maxLength: 6 }))
  .map(([whole, fields]) => ({ ...(whole && stone({ cutShape: 2 })), ...Object.fromEntries(fields) }))

const body = fc.oneof(
  diamond,
  value,
  fc.array(fc.oneof(diamond, value), { maxLength: 4 }).map((entries) => ({ entries })),
)

const encoded = fc.anyText({ maxLength: 12 }).map((text) => encodeURIComponent(text.toWellFormed()))

const path = fc.oneof(
  fc.constantFrom(
    '/v4/diamond',
    '/v3/diamond',
    '/v4/diamond/bulk',
    '/v3/diamond/bulk',
    '/v4/diamond/1',
    '/v3/diamond/2',
  ),
  fc
    .tuple(fc.constantFrom('/v3/diamond/', '/v4/diamond/', '/v2/cutshapes/', '/diamond/', '/', '/v2/'), encoded)
    .map((parts) => parts.join('')),
  fc.constantFrom('/v2/constants', '/v2/cutshapes', '/health/ready', '/metrics', '/v4/diamond/%', '//', '/v4//diamond'),
  fc.webPath(),
)

const name = fc.oneof(
  fc.constantFrom(
    'limit',
    'offset',
    'f[id][]',
    'f[sku][]',
    'f[isColored]',
    'f[isPublished]',
    'f[dateFrom]',
    'f[dateTo]',
  ),
  encoded,
)
const parameterValue = fc.oneof(
  fc.constantFrom(
    '',
    '0',
    '1',
    '-1',
    '1000',
    '1e9',
    'true',
    '20150809T183142+0330',
    '2015-08-09T00:00:00Z',
    '%00',
    '%',
  ),
  encoded,
)
const query = fc
  .array(fc.tuple(name, parameterValue), { maxLength: 4 })
  .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.map((pair) => pair.join('=')).join('&')}`))

const header = fc.oneof(
  fc.constantFrom('*', '"0.0"', 'W/"1.1"', '', 'gzip', 'application/json', 'text/plain', 'bytes=0-', '"', 'Basic YTpi'),
  fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)), maxLength: 20 }),
)
const headers = fc.dictionary(
  fc.constantFrom(
    'If-Match',
    'If-None-Match',
    'Idempotency-Key',
    'X-Request-Id',
    'Accept',
    'Content-Encoding',
    'Range',
    'Prefer',
  ),
  header,
  { maxKeys: 3 },
)

const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'PROPFIND', 'QUERY', 'TRACE')

const content: fc.Arbitrary<Partial<Request>> = fc.oneof(
  { weight: 4, arbitrary: body.map((json) => ({ json })) },
  { weight: 1, arbitrary: fc.anyText().map((text) => ({ body: text })) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 50 }).map((bytes) => ({ body: [Buffer.from([...bytes, 10])] })) },
  { weight: 1, arbitrary: fc.constant({}) },
)

const anything: fc.Arbitrary<Request> = fc
  .tuple(method, path, query, headers, content)
  .map(([method, path, query, headers, content]) => ({ method, path: path + query, headers, ...content }))
  .filter(({ method, path }) => path.startsWith('/') && (method !== 'TRACE' || path.length > 0))

test('never causes a 5xx response', async ({ ann, bob, service }) => {
  await created(ann)
  await created(bob)
  const senders = fc.constantFrom<(request: Request) => ReturnType<typeof ann.send>>(
    ann.send,
    ann.send,
    bob.send,
    service.send,
  )
  await fc.assert(
    fc.asyncProperty(senders, anything, async (send, request) => {
      const { status, text } = await send(request)
      assert.ok(status < 500, `${status} ${text}`)
    }),
    { numRuns: RUNS },
  )
})

test('writes nothing if it is rejected', async ({ service }) => {
  const vendor = await service.newVendor()
  const writes = anything.filter(({ method }) => method === 'POST' || method === 'PATCH' || method === 'DELETE')
  await fc.assert(
    fc.asyncProperty(writes, async (request) => {
      const before = await service.installation.store.head()
      const { status } = await vendor.send(request)
      if (status < 400) return
      for await (const event of service.installation.store.readAll(before)) {
        assert.ok(!/^(diamond|request)-/.test(event.stream), `${status} wrote ${event.type}`)
      }
    }),
    { numRuns: RUNS / 4 },
  )
})

test('never changes the diamonds of another account', async ({ ann, bob }) => {
  const { id } = await created(bob)
  const onIt = anything.map((request) => ({ ...request, path: `/v4/diamond/${id}` }))
  await expectNoChange([bob], () =>
    fc.assert(
      fc.asyncProperty(onIt, async (request) => void (await ann.send(request))),
      { numRuns: RUNS / 4 },
    ),
  )
})

test.run()
