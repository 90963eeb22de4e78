import { countTurns } from '../count-turns.ts'
import { until } from '../until.ts'
import { heldReads } from './harness/diamonds-with.ts'
import { newOwner } from './inventory-page/browser.ts'
import * as assert from 'uvu/assert'
import type { Vendor } from './harness/account.ts'
import { applied, uploaded } from './harness/imports.ts'
import { expect, pointers, refusal } from './harness/request.ts'
import { apiSuite, startService, GENEROUS_TIMEOUT_MS, type Service } from './harness/service.ts'
import { created, createdMany, current, list, type Shown } from './harness/stones.ts'

const test = apiSuite('an export')

const STONES = [
  {
    sku: '000071',
    price: 5252,
    cutShape: 'Round',
    carat: 1.01,
    color: 'G',
    clarity: 'VS1',
    cutQuality: 'Excellent',
    polish: 'VG',
    fluorIntensity: 'None',
    girdle: 'Thin-Medium',
    culetSize: 'Very Small',
    proportions: { length: 6.44, width: 6.41, height: 3.98, table: 57, depth: 61.9, crownAngle: 34.5, lower: 80 },
    access: 2,
  },
  { sku: '=1+1', cutShape: 'Pear', carat: 0.5, isLabGrown: true, price: 900, color: 'D', clarity: 'IF', access: 2 },
  {
    sku: 'C',
    cutShape: 'Cushion Modified',
    carat: 2,
    fancyGrade: 'Fancy Vivid',
    colorHue: 'Yellow',
    isColored: true,
    access: 2,
  },
]

async function vendorWithStones(service: Service): Promise<{ vendor: Vendor; ids: readonly number[] }> {
  const vendor = await service.newVendor()
  const ids: number[] = []
  for (const fields of STONES) ids.push((await created(vendor, fields)).id)
  const report = { product: ids[0], laboratory: 'GIA', number: '6201947735' }
  expect(201, await vendor.post('/v4/certification', report))
  return { vendor, ids }
}

const linesOf = (text: string) => text.trimEnd().split('\r\n')

/** The stones of JSON lines. */
const stonesOf = (text: string) =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Pick<Shown, 'id' | 'sku'>)

test('for RapNet has its headings and values, and leaves out laboratory-grown stones', async ({ service }) => {
  const { vendor, ids } = await vendorWithStones(service)
  const response = expect(200, await current(vendor, '/v4/diamond/export?format=rapnet'))
  assert.is(response.headers['content-type'], 'text/csv; charset=utf-8')
  assert.match(String(response.headers['content-disposition']), /^attachment; filename="rapnet-20\d\d-\d\d-\d\d\.csv"$/)
  const [header, ...rows] = linesOf(response.text)
  assert.is(
    header,
    'Stock #,Shape,Weight,Color,Fancy Color,Fancy Color Intensity,Fancy Color Overtone,Clarity,Cut Grade,Polish,Symmetry,Fluorescence Intensity,Fluorescence Color,Measurements,Lab,Certificate #,RapNet Price,Depth %,Table %,Girdle Thin,Girdle Thick,Girdle %,Culet Size,Crown Height,Crown Angle,Pavilion Depth,Pavilion Angle,Star Length,Total Price,Diamond URL',
  )
  assert.equal(rows, [
    `000071,Round,1.01,G,,,,VS1,Excellent,Very Good,,None,,6.44 x 6.41 x 3.98,GIA,6201947735,5200,61.9,57,Thin,Medium,,Very Small,,34.5,,,,5252.00,${service.url}/diamond/${ids[0]}`,
    `C,Cushion Modified,2,,Yellow,Fancy Vivid,,,,,,,,,,,,,,,,,,,,,,,,${service.url}/diamond/${ids[2]}`,
  ])
})

test('for IDEX has its headings and values', async ({ service }) => {
  const { vendor, ids } = await vendorWithStones(service)
  const { text } = expect(200, await current(vendor, '/v4/diamond/export?format=idex'))
  const [header, ...rows] = linesOf(text)
  assert.is(
    header,
    'Supplier Stock Ref,Cut,Carat,Color,Natural Fancy Color,Natural Fancy Color Intensity,Natural Fancy Color Overtone,Clarity,Make (Cut Grade),Grading Lab,Certificate Number,Online Report,Price Per Carat,Total Price,Polish,Symmetry,Measurements Length,Measurements Width,Measurements Height,Depth,Table,Crown Height,Crown Angle,Pavilion Depth,Pavilion Angle,Girdle From,Girdle To,Culet Size,Fluorescence Intensity,Fluorescence Color,Enhancement',
  )
  assert.equal(rows, [
    `000071,Round,1.01,G,,,,VS1,Excellent,GIA,6201947735,${service.url}/diamond/${ids[0]},5200.00,5252.00,Very Good,,6.44,6.41,3.98,61.9,57,,34.5,,,Thin,Medium,Very Small,None,,`,
    `'=1+1,Pear,0.5,D,,,,IF,,,,${service.url}/diamond/${ids[1]},1800.00,900.00,,,,,,,,,,,,,,,,,Lab Grown`,
    `C,Cushion Modified,2,,Yellow,Fancy Vivid,,,,,,${service.url}/diamond/${ids[2]},,,,,,,,,,,,,,,,,,,`,
  ])
})

test('has the signed link of a restricted stone, which opens its page', async ({ service }) => {
  const vendor = await service.newVendor()
  await created(vendor, { sku: 'R', access: 0 })
  const { text } = expect(200, await current(vendor, '/v4/diamond/export?format=rapnet'))
  const link = String(linesOf(text)[1]?.split(',').at(-1))
  assert.match(link, /\/diamond\/\d+\?signature=/)
  expect(200, await service.send({ path: link.slice(service.url.length) }))
})

test('summarises what the portal requires and stones lack', async ({ service }) => {
  const { vendor } = await vendorWithStones(service)
  await created(vendor, { sku: 'E', cutShape: 'Oval', carat: 1, color: 'E', price: 100 })
  const summary = expect(200, await current(vendor, '/v4/diamond/export/summary?format=rapnet')).json()
  assert.equal(summary, {
    format: 'rapnet',
    stones: 3,
    remarks: [
      {
        text: 'laboratory-grown, which RapNet does not list: they are left out',
        stones: 1,
        skus: ['=1+1'],
      },
      { text: 'without a price', stones: 1, skus: ['C'] },
      { text: 'without a clarity', stones: 1, skus: ['E'] },
      { text: 'without a report number: RapNet lists them as not graded', stones: 2, skus: ['C', 'E'] },
    ],
    lacks:
      'the location (Country, State, City) and the availability, which are not stored here; prices must be in US dollars',
  })
  const own = expect(200, await vendor.get('/v4/diamond/export/summary')).json()
  assert.equal(own, { format: 'csv', stones: 4, remarks: [], lacks: null })
})

for (const [format, type] of [
  ['csv', 'text/csv; charset=utf-8'],
  ['jsonl', 'application/x-ndjson'],
  ['idex', 'text/csv; charset=utf-8'],
])
  test(`in the format ${format} is imported to the same stones by another account`, async ({ service }) => {
    const [{ vendor }, other] = [await vendorWithStones(service), await service.newVendor()]
    const file = expect(200, await current(vendor, `/v4/diamond/export?format=${format}`))
    assert.is(file.headers['content-type'], type)
    const { id, state, errors } = await uploaded(other, file.text)
    assert.equal([state, errors], ['ready', []], file.text)
    await applied(other, id)
    const comparableStones = async (one: Vendor) =>
      list(await current(one, '/v4/diamond?sort=sku')).map((shown) => toComparable(shown, format === 'idex'))
    assert.equal(await comparableStones(other), await comparableStones(vendor))
  })

/** @param isPortal whether the portal has no columns for some fields */
function toComparable({ id: _id, date: _date, scores: _scores, _links, ...fields }: Shown, isPortal: boolean) {
  const certifications = fields['certifications'] as readonly { readonly laboratory: string; readonly number: string }[]
  const proportions = fields['proportions'] as Readonly<Record<string, unknown>> | undefined
  return {
    ...fields,
    certifications: certifications.map(({ laboratory, number }) => [laboratory, number]),
    ...(isPortal && { access: 0, proportions: proportions && { ...proportions, lower: 0 } }),
  }
}

test('contains what the filters of the list select, in any combination, and nothing of other accounts', async ({
  service,
}) => {
  const { vendor, ids } = await vendorWithStones(service)
  await created(service.ann, { sku: 'other' })
  const skusFor = async (query: string) => {
    const { text } = expect(200, await current(vendor, `/v4/diamond/export?format=jsonl${query}`))
    return stonesOf(text).map(({ sku }) => sku)
  }
  for (const [query, expected] of [
    ['', ['000071', '=1+1', 'C']],
    ['&f[isLabGrown]=1', ['=1+1']],
    ['&f[isColored]=0', ['000071', '=1+1']],
    ['&f[cutShape][]=Pear&f[cutShape][]=Cushion Modified', ['=1+1', 'C']],
    ['&f[caratFrom]=1&f[priceFrom]=100', ['000071']],
    ['&f[priceTo]=1000', ['=1+1']],
    ['&f[clarity][]=VS1&f[color][]=G', ['000071']],
    [`&f[id][]=${ids[2]}&f[isLabGrown]=0`, ['C']],
    ['&f[sku][]=000071&f[caratTo]=1', []],
    [
      '&f[integralFrom]=0',
      (await list(await current(vendor, '/v4/diamond?f[integralFrom]=0&sort=date'))).map(({ sku }) => sku),
    ],
    ['&f[dateTo]=20000101T000000Z', []],
  ] as const)
    assert.equal(await skusFor(query.replaceAll(' ', '%20')), expected, query)
})

test('serves filters that a list refuses, since it reads all stones in any case', async () => {
  const service = await startService({ maxScannedDiamonds: 2, readModelTimeoutMs: GENEROUS_TIMEOUT_MS })
  try {
    const { vendor } = await vendorWithStones(service)
    const query = 'f[hasScores]=false&f[priceFrom]=5000'
    expect(422, await current(vendor, `/v4/diamond?${query}`))
    const { text } = expect(200, await vendor.get(`/v4/diamond/export?${query}`))
    assert.is(linesOf(text).length, 2)
  } finally {
    await service.stop()
  }
})

test('contains every stone once, in the order of creation, over many pages', async ({ service }) => {
  const vendor = await service.newVendor()
  const stones: { readonly id: number }[] = []
  for (let bulk = 0; bulk < 5; bulk++) stones.push(...(await createdMany(vendor, 500)))
  const { text } = expect(200, await current(vendor, '/v4/diamond/export?format=jsonl'))
  assert.equal(
    stonesOf(text).map(({ id }) => id),
    stones.map(({ id }) => id),
  )
})

test('lets other requests run between two parts of the list, although an embedded store never waits', async ({
  service,
}) => {
  const vendor = await service.newVendor()
  await createdMany(vendor, 500)
  const query = 'f[caratFrom]=900'
  await current(vendor, `/v4/diamond/export/summary?${query}`)
  const turns = await countTurns(async () => expect(200, await vendor.get(`/v4/diamond/export/summary?${query}`)))
  assert.ok(turns >= 10, `${turns} turns for 500 stones`)
})

test('is refused with 429 while four others of the account are sent, and with 503 if the stones cannot be read', async () => {
  const { held, reads } = heldReads()
  const service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, reads })
  try {
    const { owner, openPage } = await newOwner(service)
    await created(owner)
    const { promise, resolve } = Promise.withResolvers<void>()
    held.gate = promise
    const running = Array.from({ length: 4 }, () => owner.get('/v4/diamond/export'))
    await until('four exports read', async () => held.waiting === 4)
    refusal(429, await owner.get('/v4/diamond/export'))
    refusal(429, await owner.get('/v4/diamond/export/summary'))
    expect(429, await openPage('/inventory/export?format=rapnet'))
    expect(429, await openPage('/inventory/export/csv'))
    resolve()
    for (const response of await Promise.all(running)) expect(200, response)
    // A HEAD request reads no more than the start.
    for (let head = 0; head < 5; head++) expect(200, await owner.send({ method: 'HEAD', path: '/v4/diamond/export' }))
    expect(200, await openPage('/inventory/export/csv'))
    held.remainingQueries = 0
    refusal(503, await owner.get('/v4/diamond/export'))
  } finally {
    await service.stop()
  }
})

test('breaks the connection if the stones cannot be read to the end, so that no client takes the file for complete', async () => {
  const { held, reads } = heldReads()
  const service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, reads })
  try {
    for (let bulk = 0; bulk < 3; bulk++) await createdMany(service.ann, 500)
    for (const [encoding, format] of [
      ['identity', 'csv'],
      ['gzip', 'rapnet'],
    ] as const) {
      held.remainingQueries = 1
      const headers = { 'Accept-Encoding': encoding }
      const broken = service.ann.send({ path: `/v4/diamond/export?format=${format}`, headers })
      const message = await broken.then(
        ({ text }) => text,
        ({ message: text }: Error) => text,
      )
      assert.ok(/aborted|socket hang up|the connection closed/.test(message), message.slice(0, 300))
    }
    held.remainingQueries = Infinity
    for (let again = 0; again < 5; again++) expect(200, await service.ann.get('/v4/diamond/export'))
  } finally {
    await service.stop()
  }
})

test('rejects an unknown format, pages and orders', async ({ ann }) => {
  const { error } = refusal(422, await ann.get('/v4/diamond/export?format=rapnett'))
  assert.match(String(error), /format must be one of csv, jsonl, rapnet, idex, got "rapnett"; did you mean rapnet\?/)
  const unknown = refusal(400, await ann.get('/v4/diamond/export?limit=5&sort=price'))
  assert.equal(pointers(unknown).toSorted(), ['limit', 'sort'])
  refusal(422, await ann.get('/v4/diamond/export?f[flavour]=sweet'))
  refusal(422, await ann.get('/v4/diamond/export/summary?format=pdf'))
  refusal(401, await ann.send({ path: '/v4/diamond/export', headers: { Authorization: 'Bearer x' } }))
})

test.run()
