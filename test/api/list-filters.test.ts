import * as assert from 'uvu/assert'
import type { Vendor } from './harness/account.ts'
import { expect, pointers, refusal, type ApiResponse } from './harness/request.ts'
import { apiSuite, clockOfLinks, GENEROUS_TIMEOUT_MS, startService, type Service } from './harness/service.ts'
import { created, createdMany, current, list, stone } from './harness/stones.ts'

const test = apiSuite('the filters and sort orders of v4')

const skus = (response: ApiResponse) => list(response).map(({ sku }) => sku)
const total = (response: ApiResponse) => response.headers['x-total-count']

const STONES = [
  { sku: 'A', cutShape: 'Round', carat: 1.01, price: 5000, color: 'G', clarity: 'VS1' },
  { sku: 'B', cutShape: 'Princess', carat: 0.5, color: 'D', clarity: 'IF', isLabGrown: true },
  { sku: 'C', cutShape: 'Round', carat: 2, price: 5000, color: 'D', clarity: 'SI1', isLabGrown: true },
  { sku: 'D', cutShape: 'Trilliant', carat: 0.3, price: 99.5, clarity: 'VS1', isColored: true },
  { sku: 'E', cutShape: 'Cushion Modified', carat: 1.01, color: 'H', clarity: 'VS2' },
]

let vendorOfStones: Promise<Vendor> | undefined

/** The vendor with STONES that the tests share and do not change. */
const vendorWithStones = (service: Service): Promise<Vendor> => (vendorOfStones ??= createVendorWithStones(service))

async function createVendorWithStones(service: Service): Promise<Vendor> {
  const vendor = await service.newVendor()
  for (const fields of STONES) await created(vendor, fields)
  return vendor
}

test('sort by each attribute, with missing values last and ties by id in the same direction', async ({ service }) => {
  const vendor = await vendorWithStones(service)
  for (const [sort, expected] of [
    ['-date', 'EDCBA'],
    ['date', 'ABCDE'],
    ['carat', 'DBAEC'],
    ['-carat', 'CEABD'],
    ['price', 'DACBE'],
    ['-price', 'CADEB'],
    ['sku', 'ABCDE'],
  ] as const) {
    const all = expect(200, await vendor.get(`/v4/diamond?sort=${sort}`))
    assert.is(skus(all).join(''), expected, sort)
    const pages = [0, 2, 4].map((offset) => vendor.get(`/v4/diamond?sort=${sort}&limit=2&offset=${offset}`))
    assert.is((await Promise.all(pages)).flatMap(skus).join(''), expected, `${sort}, by offset`)
    assert.is(total(all), '5')
  }
})

test('keep the sort order across pages, with a cursor that is valid only for that order', async ({ service }) => {
  const vendor = await vendorWithStones(service)
  for (const [sort, expected] of [
    ['price', 'DACBE'],
    ['-price', 'CADEB'],
    ['carat', 'DBAEC'],
    ['sku', 'ABCDE'],
  ] as const) {
    let seen = ''
    let path: string | undefined = `/v4/diamond?sort=${sort}&limit=1&after=`
    while (path !== undefined) {
      const page: ApiResponse = expect(200, await vendor.get(path))
      seen += skus(page).join('')
      const [, next] = /<[^>]*?(\/v4\/[^>]+)>; rel="next"/.exec(String(page.headers.link)) ?? []
      if (next !== undefined) {
        assert.match(next, `sort=${sort}&`)
        const other = next.replace(`sort=${sort}`, 'sort=date')
        assert.equal(pointers(refusal(400, await vendor.get(other))), ['after'])
      }
      path = next
    }
    assert.is(seen, expected, sort)
  }
})

for (const [query, expected] of [
  ['f[cutShape][]=Round', 'CA'],
  ['f[cutShape][]=rb&f[cutShape][]=4', 'CBA'],
  ['f[cutShape]=Trilliant', 'D'],
  ['f[cutShape][]=Trilliant&f[cutShape][]=2', 'DCA'],
  ['f[cutShape][0]=Cushion%20Modified&f[cutShape][1]=Heart', 'E'],
  ['f[color][]=d', 'CB'],
  ['f[color][]=G&f[color][]=H', 'EA'],
  ['f[clarity][]=VS1', 'DA'],
  ['f[clarity][]=vs1&f[color][]=G', 'A'],
  ['f[isLabGrown]=True', 'CB'],
  ['f[isLabGrown]=0&f[isColored]=1', 'D'],
  ['f[caratFrom]=0.5&f[caratTo]=1.01', 'EBA'],
  ['f[caratFrom]=1.01', 'ECA'],
  ['f[caratTo]=0.3', 'D'],
  ['f[priceTo]=5000', 'DCA'],
  ['f[priceFrom]=99.5&f[priceTo]=100', 'D'],
  ['f[priceFrom]=1e3&f[cutShape][]=Round&f[isLabGrown]=1', 'C'],
  ['f[hasScores]=0', 'EDCBA'],
  ['f[sku][]=A&f[sku][]=C&f[color][]=D', 'C'],
  ['f[caratTo]=1.5&sort=-carat', 'EABD'],
  ['f[clarity][]=VS1&f[clarity][]=VS2&sort=price', 'DAE'],
  ['f[color][]=D&sort=sku', 'BC'],
] as const) {
  test(`find the matching diamonds for ${query}`, async ({ service }) => {
    const vendor = await vendorWithStones(service)
    const response = expect(200, await vendor.get(`/v4/diamond?${query}`))
    assert.is(skus(response).join(''), expected)
    assert.is(total(response), String(expected.length))
  })
}

test('return 204 and a total of 0 without a match', async ({ service }) => {
  const vendor = await vendorWithStones(service)
  for (const query of [
    'f[caratFrom]=3',
    'f[priceFrom]=6&f[priceTo]=5',
    'f[hasScores]=1',
    'f[integralFrom]=0',
    'f[cutShape][]=Oval',
  ]) {
    assert.is(total(expect(204, await current(vendor, `/v4/diamond?${query}`))), '0', query)
  }
})

for (const [query, status, pointer] of [
  ['f[color][]=ZZZ', 422, 'f[color][]'],
  ['f[color][]=9999', 422, 'f[color][]'],
  ['f[clarity][]=', 422, 'f[clarity][]'],
  ['f[cutShape][]=Rund', 422, 'f[cutShape][]'],
  ['f[caratFrom]=1,5', 400, 'f[caratFrom]'],
  ['f[priceTo]=', 400, 'f[priceTo]'],
  ['f[priceTo]=1e999', 422, 'f[priceTo]'],
  ['f[isLabGrown]=yes', 400, 'f[isLabGrown]'],
  ['f[caratFrom]=1&f[caratFrom]=2', 400, 'f[caratFrom]'],
  ['sort=colour', 422, 'sort'],
  ['sort=-sku', 422, 'sort'],
  ['sort=', 422, 'sort'],
  ['sort=price&sort=price', 400, 'sort'],
  ['Sort=price', 400, 'Sort'],
  ['f[carat]=1', 422, 'f[carat]'],
] as const) {
  test(`reject ${query} with ${status}`, async ({ ann }) => {
    assert.equal(pointers(refusal(status, await ann.get(`/v4/diamond?${query}`))), [pointer])
  })
}

test('are not part of v3, which rejects the filters and a sort order', async ({ service }) => {
  const vendor = await vendorWithStones(service)
  assert.equal(pointers(refusal(422, await vendor.get('/v3/diamond?f[color][]=D'))), ['f[color][]'])
  assert.equal(pointers(refusal(400, await vendor.get('/v3/diamond?sort=price'))), ['sort'])
})

/** Diamonds that a list may scan in this test; 5,000 in production. */
const MAX_SCANNED = 50

test('are rejected if a list would scan too many diamonds, with the name of a combination that works', async () => {
  const service = await startService({
    clock: clockOfLinks(),
    readModelTimeoutMs: GENEROUS_TIMEOUT_MS,
    maxScannedDiamonds: MAX_SCANNED,
  })
  try {
    const vendor = service.ann
    const all = String(MAX_SCANNED + 10)
    await createdMany(vendor, MAX_SCANNED + 10, 'MANY')
    expect(200, await current(vendor, '/v4/diamond?limit=1'))
    const refused = refusal(422, await vendor.get('/v4/diamond?f[cutShape][]=Round&f[hasScores]=true&sort=price'))
    assert.equal(pointers(refused), ['f[hasScores]'])
    assert.match(
      refused.error.join(),
      'More than 50 of your stones would have to be read, because no index serves f[hasScores] with sort=price; f[cutShape][]&sort=price works for any number of stones',
    )
    const served = expect(200, await current(vendor, '/v4/diamond?f[cutShape][]=Round&sort=price'))
    assert.is(total(served), all)
    for (const end of ['f[priceTo]', 'f[priceFrom]']) {
      assert.equal(pointers(refusal(422, await vendor.get(`/v4/diamond?${end}=9&sort=integral`))), [end])
    }
    for (const end of ['f[dateTo]', 'f[dateFrom]']) {
      assert.equal(pointers(refusal(422, await vendor.get(`/v4/diamond?${end}=20200101T000000Z&sort=price`))), [end])
    }
    expect(204, await current(vendor, '/v4/diamond?f[cutShape][]=Round&f[hasScores]=true&sort=price&f[caratFrom]=5'))
    assert.match(
      refusal(422, await vendor.get('/v4/diamond?f[caratFrom]=0.1&sort=carat')).error.join(),
      'More than 50 of your stones are in the range of f[caratFrom]: narrow it',
    )
    expect(204, await current(vendor, '/v4/diamond?f[caratFrom]=3&sort=carat'))
    assert.is(total(expect(200, await current(vendor, '/v4/diamond?f[isColored]=0&f[dateFrom]=20200101T000000Z'))), all)

    const entries = Array.from({ length: 3 }, (_, index) => stone({ sku: `G-${index}`, color: 'G', clarity: 'VS1' }))
    expect(201, await vendor.post('/v4/diamond/bulk', { entries }))
    for (const grade of ['f[color][]=G&f[clarity][]=VS1', 'f[color][]=G', 'f[clarity][]=VS1&f[caratTo]=5'])
      assert.is(total(expect(200, await current(vendor, `/v4/diamond?${grade}&sort=-price`))), '3', grade)
  } finally {
    await service.stop()
  }
})

test.run()
