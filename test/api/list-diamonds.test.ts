import * as assert from 'uvu/assert'
import { createDiamonds } from '../../src/commands/diamonds/diamonds.ts'
import { IdAllocator } from '../../src/commands/installation/id-allocator.ts'
import type { Vendor } from './harness/account.ts'
import { expect, pointers, refusal, type ApiResponse } from './harness/request.ts'
import { apiSuite, type Service } from './harness/service.ts'
import { created, createdMany, current, list, stone } from './harness/stones.ts'

const test = apiSuite('listing diamonds')

const skus = (response: ApiResponse) => list(response).map(({ sku }) => sku)
const total = (response: ApiResponse) => response.headers['x-total-count']

/** The addresses of a Link header by relation. */
function links(response: ApiResponse): Record<string, string> {
  const found = String(response.headers.link ?? '').matchAll(/<([^>]+)>; rel="(\w+)"/g)
  return Object.fromEntries([...found].map(([, address, rel]) => [String(rel), String(address)]))
}

/** A vendor with diamonds P-0 to P-{count - 1}, the last the newest. */
async function withStones(service: Service, count: number): Promise<Vendor> {
  const vendor = await service.newVendor()
  await createdMany(vendor, count, 'P')
  return vendor
}

test('returns the newest 25 first, and the total', async ({ service }) => {
  const vendor = await withStones(service, 30)
  const response = expect(200, await vendor.get('/v4/diamond'))
  assert.equal(
    skus(response),
    Array.from({ length: 25 }, (_, index) => `P-${29 - index}`),
  )
  assert.is(total(response), '30')
})

test('without a match returns 204 without a body and a total of 0', async ({ service }) => {
  const vendor = await service.newVendor()
  const response = expect(204, await vendor.get('/v4/diamond'))
  assert.is(response.text, '')
  assert.is(total(response), '0')
  assert.is(response.headers.link, undefined)
})

test('returns only diamonds of the account, whatever the filters', async ({ ann, bob }) => {
  const theirs = await created(bob, { sku: 'THEIRS' })
  expect(204, await ann.get(`/v4/diamond?f[id][]=${theirs.id}`))
  expect(204, await ann.get('/v4/diamond?f[sku][]=THEIRS'))
})

test('returns pages by limit and offset without gaps', async ({ service }) => {
  const vendor = await withStones(service, 10)
  const pages = await Promise.all([0, 3, 6, 9].map((offset) => vendor.get(`/v4/diamond?limit=3&offset=${offset}`)))
  assert.equal(
    pages.map((page) => skus(page).length),
    [3, 3, 3, 1],
  )
  assert.equal(
    pages.flatMap(skus),
    Array.from({ length: 10 }, (_, index) => `P-${9 - index}`),
  )
  assert.ok(pages.every((page) => total(page) === '10'))
})

test('past the end returns 204 with the total', async ({ service }) => {
  const vendor = await withStones(service, 3)
  for (const offset of [3, 4, 1_000_000, Number.MAX_SAFE_INTEGER]) {
    assert.is(total(expect(204, await vendor.get(`/v4/diamond?offset=${offset}`))), '3')
  }
})

test('accepts limits from 1 to 1000', async ({ service }) => {
  const vendor = await withStones(service, 2)
  assert.is(skus(await vendor.get('/v4/diamond?limit=1')).length, 1)
  assert.is(skus(await vendor.get('/v4/diamond?limit=1000')).length, 2)
  for (const limit of ['0', '-1', '1001', '99999999999999999999']) {
    assert.equal(pointers(refusal(422, await vendor.get(`/v4/diamond?limit=${limit}`))), ['limit'])
  }
  for (const offset of ['-1', '-99', '99999999999999999999']) {
    assert.equal(pointers(refusal(422, await vendor.get(`/v4/diamond?offset=${offset}`))), ['offset'])
  }
})

for (const text of ['', 'x', '1.5', '1e2', '0x10', '%201', '25;', '--1', '%F0%9F%92%8E', 'NaN', 'Infinity']) {
  test(`with the limit or offset "${text}" is rejected with 400`, async ({ ann }) => {
    assert.equal(pointers(refusal(400, await ann.get(`/v4/diamond?limit=${text}`))), ['limit'])
    assert.equal(pointers(refusal(400, await ann.get(`/v4/diamond?offset=${text}`))), ['offset'])
  })
}

test('with a duplicate of a single-valued parameter is rejected with 400', async ({ ann }) => {
  for (const name of ['limit', 'offset', 'f[isColored]', 'f[dateFrom]', 'f[dateTo]', 'f[isPublished]']) {
    const value = name.includes('date') ? '20200101T000000Z' : '1'
    const response = await ann.get(`/v3/diamond?${name}=${value}&${encodeURIComponent(name)}=${value}`)
    assert.equal(pointers(refusal(400, response)), [name])
  }
})

test('reports all errors in its parameters at once', async ({ ann }) => {
  const response = await ann.get('/v4/diamond?limit=x&offset=-1&f[isColored]=maybe&f[dateFrom]=today&f[id][]=a&f[no]=1')
  assert.equal(pointers(refusal(400, response)), ['f[dateFrom]', 'f[id][]', 'f[isColored]', 'f[no]', 'limit', 'offset'])
})

test('with unknown parameters is rejected with 400 and names each of them', async ({ ann }) => {
  const names = ['page', 'order', 'f', 'filter[id]', 'access_token', 'constructor']
  const response = await ann.get(`/v4/diamond?${names.map((name) => `${encodeURIComponent(name)}=1`).join('&')}`)
  assert.equal(pointers(refusal(400, response)), names.toSorted())
})

for (const name of [
  'f[girdle]',
  'f[]',
  'f[id][x]',
  'f[isColored][]',
  'f[isPublished]',
  'f[date]',
  'f[__proto__]',
  'f[',
  'f[id][][]',
]) {
  test(`with the filter ${name} is rejected with 422 in v4`, async ({ ann }) => {
    assert.equal(pointers(refusal(422, await ann.get(`/v4/diamond?${name}=1`))), [name])
    assert.equal(pointers(refusal(422, await ann.get(`/v4/diamond?${encodeURIComponent(name)}=1`))), [name])
  })
}

test('by f[id][] returns exactly these diamonds', async ({ service }) => {
  const vendor = await service.newVendor()
  const [a, b, c] = await createdMany(vendor, 3, 'ID')
  const expected = await vendor.get(`/v4/diamond?f[id][]=${a?.id}&f[id][]=${c?.id}&f[id][]=${c?.id}&f[id][]=${2 ** 50}`)
  assert.equal(skus(expected), ['ID-2', 'ID-0'])
  assert.is(total(expected), '2')
  assert.equal(skus(await vendor.get(`/v4/diamond?f%5Bid%5D%5B%5D=${b?.id}`)), ['ID-1'])
})

for (const id of ['0', '-1', 'x', '', '1.5', '9007199254740992', '%00', '1e3']) {
  test(`by the id "${id}" is rejected with 422`, async ({ ann }) => {
    assert.equal(pointers(refusal(422, await ann.get(`/v4/diamond?f[id][]=${id}`))), ['f[id][]'])
  })
}

test('accepts numbered array parameters as PHP writes them, mixed with plain ones', async ({ service }) => {
  const vendor = await service.newVendor()
  const [a, b, c] = await createdMany(vendor, 3, 'NO')
  const numbered = await vendor.get(`/v4/diamond?f[id][0]=${a?.id}&f%5Bid%5D%5B17%5D=${c?.id}`)
  assert.equal(skus(numbered), ['NO-2', 'NO-0'])
  assert.equal(skus(await vendor.get(`/v3/diamond?f[sku][0]=NO-1&f[sku][]=NO-2&f[sku]=NO-0`)), ['NO-2', 'NO-1', 'NO-0'])
  assert.equal(skus(await vendor.get(`/v4/diamond?f[id][3]=${b?.id}&f[sku][0]=NO-1`)), ['NO-1'])
  assert.equal(pointers(refusal(422, await vendor.get('/v4/diamond?f[id][0]=x'))), ['f[id][]'])
})

for (const [name, meant] of [
  ['Limit', 'limit'],
  ['LIMIT', 'limit'],
  ['limt', 'limit'],
  ['limits', 'limit'],
  ['offest', 'offset'],
  ['ofset', 'offset'],
  ['off_set', 'offset'],
  ['F[id][]', 'f[id][]'],
  ['F[isColored]', 'f[isColored]'],
  ['fdateFrom', 'f[dateFrom]'],
] as const) {
  test(`with the parameter ${name} is rejected with 400 and suggests ${meant}`, async ({ ann }) => {
    const body = refusal(400, await ann.get(`/v4/diamond?${name}=1`))
    assert.equal(pointers(body), [name])
    assert.ok(body.error.some((message) => message.includes(`did you mean ${meant}?`)))
  })
}

test('finds a sku despite surrounding blanks in the filter, and one that was stored with them', async ({ service }) => {
  const vendor = await service.newVendor()
  await created(vendor, { sku: 'BLANK' })
  const { context } = service.installation
  const origin = { actor: 'tests', via: 'http', correlation: 'older' } as const
  const diamondIds = new IdAllocator({ ...context, kind: 'diamond', size: 1, origin })
  const entries = [{ sku: ' BLANK ', cutShape: 2, carat: 1 }]
  await createDiamonds({ ...context, diamondIds }, { owner: vendor.account, entries, origin })
  const found = skus(await current(vendor, '/v4/diamond?f[sku][]=%20BLANK%20'))
  assert.equal(found.toSorted(), [' BLANK ', 'BLANK'])
  assert.equal(skus(await vendor.get('/v4/diamond?f[sku][]=BLANK')), ['BLANK'])
})

test('by f[sku][] returns all diamonds with one of the skus', async ({ service }) => {
  const vendor = await service.newVendor()
  for (const sku of ['A', 'B', 'A', 'a', 'é +&=']) await created(vendor, { sku })
  assert.equal(skus(await vendor.get('/v4/diamond?f[sku][]=A&f[sku][]=B')), ['A', 'B', 'A'])
  assert.equal(skus(await vendor.get(`/v4/diamond?f[sku][]=${encodeURIComponent('é +&=')}`)), ['é +&='])
  expect(204, await vendor.get('/v4/diamond?f[sku][]='))
  expect(204, await vendor.get('/v4/diamond?f[sku][]=%FF%00'))
})

test('accepts 1000 values of a filter and rejects more', async ({ service }) => {
  const vendor = await withStones(service, 2)
  const filters = (count: number, name: string) =>
    Array.from({ length: count }, (_, index) => `f[${name}][]=${index + 1}`).join('&')
  const [{ id } = { id: 0 }] = list(await vendor.get('/v4/diamond'))
  assert.is(
    total(await vendor.get(`/v4/diamond?${filters(999, 'id')}&f[id][]=${id + 5000}&limit=1`)) !== undefined,
    true,
  )
  expect(204, await vendor.get(`/v4/diamond?${filters(1000, 'sku')}`))
  for (const [name, count] of [
    ['id', 1001],
    ['sku', 1001],
  ] as const) {
    assert.equal(pointers(refusal(422, await vendor.get(`/v4/diamond?${filters(count, name)}`))), [`f[${name}][]`])
  }
  // More parameters than two full filters and a page need: rejected by their number before any is decoded.
  const { error } = refusal(422, await vendor.get(`/v4/diamond?${filters(20_000, 'id')}`))
  assert.equal(error, ['A request must have at most 2,500 parameters'])
})

test('by isColored accepts 1, 0, true and false', async ({ service }) => {
  const vendor = await service.newVendor()
  await created(vendor, { sku: 'PLAIN' })
  await created(vendor, { sku: 'FANCY', isColored: true })
  for (const yes of ['1', 'true', 'TRUE', 'True'])
    assert.equal(skus(await vendor.get(`/v4/diamond?f[isColored]=${yes}`)), ['FANCY'])
  for (const no of ['0', 'false', 'False', 'FALSE'])
    assert.equal(skus(await vendor.get(`/v4/diamond?f[isColored]=${no}`)), ['PLAIN'])
  for (const other of ['', 'yes', 'T', '2']) {
    assert.equal(pointers(refusal(400, await vendor.get(`/v4/diamond?f[isColored]=${other}`))), ['f[isColored]'])
  }
})

test('by isPublished works in v3', async ({ service }) => {
  const vendor = await service.newVendor()
  const stones = await createdMany(vendor, 3, 'PUB')
  expect(200, await vendor.patch(`/v3/diamond/${stones[1]?.id}`, { isPublished: true }))
  assert.equal(skus(await vendor.get('/v3/diamond?f[isPublished]=1')), ['PUB-1'])
  assert.equal(skus(await vendor.get('/v3/diamond?f[isPublished]=false')), ['PUB-2', 'PUB-0'])
  assert.equal(skus(await vendor.get('/v3/diamond?f[isPublished]=1&f[isColored]=0')), ['PUB-1'])
})

test('combines values of one filter with OR and filters with AND', async ({ service }) => {
  const vendor = await service.newVendor()
  const fancy = await created(vendor, { sku: 'X', isColored: true })
  const plain = await created(vendor, { sku: 'X' })
  await created(vendor, { sku: 'Y', isColored: true })
  const ids = `f[id][]=${fancy.id}&f[id][]=${plain.id}`
  assert.is(total(await vendor.get(`/v4/diamond?f[sku][]=X&f[sku][]=Y&f[isColored]=1`)), '2')
  const both = await vendor.get(`/v4/diamond?${ids}&f[sku][]=X&f[isColored]=1`)
  assert.equal(list(both), [fancy])
  assert.is(total(both), '1')
})

test('returns a Link header with working first, prev, next and last links', async ({ service }) => {
  const vendor = await withStones(service, 10)
  const pages: (readonly [offset: number, rels: Record<string, number>])[] = [
    [0, { first: 0, next: 3, last: 9 }],
    [3, { first: 0, prev: 0, next: 6, last: 9 }],
    [4, { first: 0, prev: 1, next: 7, last: 9 }],
    [9, { first: 0, prev: 6, last: 9 }],
    [50, { first: 0, prev: 9, last: 9 }],
  ]
  for (const [offset, rels] of pages) {
    const found = links(await vendor.get(`/v4/diamond?limit=3&offset=${offset}&f[isColored]=0`))
    const offsets = Object.entries(found).map(([rel, url]) => [rel, Number(new URL(url).searchParams.get('offset'))])
    assert.equal(Object.fromEntries(offsets), rels)
    for (const url of Object.values(found)) {
      assert.ok(url.startsWith(`${service.url}/v4/diamond?`))
      const { pathname, search, searchParams } = new URL(url)
      assert.equal([searchParams.get('limit'), searchParams.get('f[isColored]')], ['3', '0'])
      assert.is(total(expect(200, await vendor.get(pathname + search))), '10')
    }
  }
})

test('along the next links returns every diamond once', async ({ service }) => {
  const vendor = await withStones(service, 23)
  const seen: string[] = []
  let path: string | undefined = '/v4/diamond?limit=4&f[dateTo]=29990101T000000%2B0330'
  while (path !== undefined) {
    const page: ApiResponse = expect(200, await vendor.get(path))
    seen.push(...skus(page))
    const next = links(page)['next']
    path = next === undefined ? undefined : new URL(next).pathname + new URL(next).search
  }
  assert.equal(
    seen,
    Array.from({ length: 23 }, (_, index) => `P-${22 - index}`),
  )
})

test('omits the Link header if it would be too long for clients', async ({ service }) => {
  const vendor = await withStones(service, 2)
  const [{ id } = { id: 0 }] = list(await vendor.get('/v4/diamond'))
  const many = Array.from({ length: 800 }, (_, index) => `f[id][]=${id + index}`).join('&')
  const response = expect(200, await vendor.get(`/v4/diamond?${many}`))
  assert.is(total(response), '1')
  assert.is(response.headers.link, undefined)
})

test('orders by date and then by id, also within one bulk', async ({ service }) => {
  const vendor = await service.newVendor()
  await vendor.post('/v4/diamond/bulk', { entries: [stone({ sku: '1' }), stone({ sku: '2' })] })
  await created(vendor, { sku: '3' })
  assert.equal(skus(await vendor.get('/v4/diamond')), ['3', '2', '1'])
})

test.run()
