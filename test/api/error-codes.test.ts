import * as assert from 'uvu/assert'
import { FAULT_CODES } from '../../src/domain/request-error.ts'
import { file, formBody, formHeaders, smallPdf, text } from './harness/form.ts'
import { refusal, type Request } from './harness/request.ts'
import { apiSuite } from './harness/service.ts'
import { created, stone, stoneV3 } from './harness/stones.ts'

const test = apiSuite('the code of an error')

type Case = readonly [status: number, pointer: string, code: string, request: Request]

const post = (path: string, json: unknown): Request => ({ method: 'POST', path, json })
const list = (query: string): Request => ({ path: `/v4/diamond?${query}` })
const form = (...parts: Parameters<typeof formBody>[0][number][]): Request => ({
  method: 'POST',
  path: '/v4/certification',
  headers: formHeaders,
  body: formBody(parts),
})

/** @param own a diamond of the account @param other one of another account */
const cases = (own: number, other: number): readonly Case[] => [
  ...(['v4', 'v3'] as const).flatMap((version): Case[] => {
    const valid = version === 'v3' ? stoneV3 : stone
    const create = (fields: Readonly<Record<string, unknown>>) => post(`/${version}/diamond`, valid(fields))
    return [
      [422, '/sku', 'required', create({ sku: undefined })],
      [422, '/sku', 'required', create({ sku: null })],
      [422, '/carat', 'required', create({ carat: undefined })],
      [422, '/cutShape', 'required', create({ cutShape: null })],
      [422, '/carat', 'type', create({ carat: '1' })],
      [422, '/sku', 'type', create({ sku: 7 })],
      [422, '/isColored', 'type', create({ isColored: 'true' })],
      [422, '/clarity', 'type', create({ clarity: true })],
      [422, '', 'type', post(`/${version}/diamond`, [])],
      [422, '/carat', 'range', create({ carat: 0 })],
      [422, '/carat', 'range', create({ carat: 10_001 })],
      [422, '/price', 'range', create({ price: -1 })],
      [422, '/sku', 'range', create({ sku: 'a'.repeat(129) })],
      [422, '/sku', 'format', create({ sku: ' ' })],
      [422, '/sku', 'format', create({ sku: 'a\u0001' })],
      [422, '/clarity', 'unknown_value', create({ clarity: version === 'v3' ? 999 : 'VS9' })],
      [422, '/cutShape', 'unknown_value', create({ cutShape: version === 'v3' ? 999 : 'Rund' })],
      [422, '/colour', 'unknown_field', create({ colour: 'G' })],
    ]
  }),
  [422, '/access', 'unknown_value', post('/v4/diamond', stone({ access: 7 }))],
  [
    422,
    '/price',
    'range',
    { ...post('/v4/diamond', undefined), body: '{"sku":"a","cutShape":"Round","carat":1,"price":1e400}' },
  ],
  [422, '/entries', 'required', post('/v4/diamond/bulk', {})],
  [422, '/entries', 'type', post('/v4/diamond/bulk', { entries: 3 })],
  [422, '/entries', 'range', post('/v4/diamond/bulk', { entries: [] })],
  [422, '/entries/0/price', 'range', post('/v4/diamond/bulk', { entries: [stone({ price: -1 })] })],
  [422, '/more', 'unknown_field', post('/v4/diamond/bulk', { entries: [stone()], more: 1 })],
  [
    422,
    '/entries/1/id',
    'duplicate',
    { method: 'DELETE', path: '/v4/diamond/bulk', json: { entries: [{ id: own }, { id: own }] } },
  ],
  [422, '/entries/0/id', 'required', { method: 'DELETE', path: '/v4/diamond/bulk', json: { entries: [{}] } }],
  [
    404,
    '/entries/0',
    'not_found',
    { method: 'DELETE', path: '/v4/diamond/bulk', json: { entries: [{ id: 999_999 }] } },
  ],
  [403, '/entries/0', 'forbidden', { method: 'DELETE', path: '/v4/diamond/bulk', json: { entries: [{ id: other }] } }],
  [400, 'sku', 'unknown_parameter', list('sku=1')],
  [422, 'f[skus][]', 'unknown_parameter', list('f[skus][]=1')],
  [400, 'at', 'unknown_parameter', list('at=20150809T183142Z')],
  [400, 'limit', 'format', list('limit=many')],
  [400, 'limit', 'duplicate', list('limit=1&limit=2')],
  [422, 'limit', 'range', list('limit=0')],
  [400, 'f[dateFrom]', 'format', list('f[dateFrom]=today')],
  [422, 'f[dateFrom]', 'range', list('f[dateFrom]=20151309T183142Z')],
  [400, 'f[isColored]', 'format', list('f[isColored]=maybe')],
  [422, 'f[clarity][]', 'unknown_value', list('f[clarity][]=VS9')],
  [422, 'sort', 'unknown_value', list('sort=colour')],
  [400, 'after', 'format', list('after=x')],
  [422, '/product', 'required', post('/v4/certification', { laboratory: 'GIA' })],
  [422, '/laboratory', 'unknown_value', post('/v4/certification', { product: own, laboratory: 'XYZ' })],
  [422, '/product', 'not_found', post('/v4/certification', { product: 999_999, laboratory: 'XYZ' })],
  [415, '/file', 'format', form(text('product', own), text('laboratory', 'GIA'), file('not a PDF'))],
  [
    400,
    '/product',
    'duplicate',
    form(text('product', own), text('product', own), text('laboratory', 'GIA'), file(smallPdf())),
  ],
  [422, '/url', 'required', post('/v4/webhook', {})],
  [422, '/url', 'format', post('/v4/webhook', { url: 'ftp://example.com' })],
  [422, '/description', 'range', post('/v4/webhook', { url: 'https://example.com', description: 'a'.repeat(5_000) })],
]

test('tells a program what kind of error it is, for each kind', async ({ ann, bob }) => {
  const [own, other] = [await created(ann), await created(bob)]
  const seen = new Set<string>()
  for (const [status, pointer, code, request] of cases(own.id, other.id)) {
    const { details = [] } = refusal(status, await ann.send(request))
    const found = details.filter((detail) => detail.pointer === pointer).map((detail) => detail.code)
    assert.ok(
      found.includes(code),
      `${code} at ${pointer} of ${JSON.stringify(request)}, got ${JSON.stringify(details)}`,
    )
    seen.add(code)
  }
  assert.equal([...seen].toSorted(), [...FAULT_CODES].toSorted())
})

test.run()
