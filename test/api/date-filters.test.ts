import * as assert from 'uvu/assert'
import { expect, pointers, refusal, type ApiResponse } from './harness/request.ts'
import { apiSuite } from './harness/service.ts'
import { created, list } from './harness/stones.ts'

/** 2015-08-09T15:01:42 UTC, which is 18:31:42 at +03:30. */
const AT = Date.UTC(2015, 7, 9, 15, 1, 42)

const time = { now: AT }
const test = apiSuite('listing diamonds by date', { clock: () => time.now })

const skus = (response: ApiResponse) => list(response).map(({ sku }) => sku)

test('finds a creation time by inclusive bounds, to the second, in every accepted notation', async ({ service }) => {
  const vendor = await service.newVendor()
  time.now = AT + 999
  await created(vendor, { sku: 'THEN' })
  for (const same of [
    '20150809T183142+0330',
    '20150809T183142%2B0330',
    '20150809T183142 0330',
    '20150809T150142Z',
    '20150809T070142-0800',
    '2015-08-09T18:31:42+03:30',
    '2015-08-09T18:31:42%2B03:30',
    '2015-08-09T15:01:42Z',
    '2015-08-09T15:01:42.5Z',
    '2015-08-09T15:01:42,123456789Z',
    '2015-08-09T18:31:42+0330',
    '2015-08-09T18:31:42%2B0330',
    '2015-08-09T18:31:42 03:30',
    '20150809T18:31:42+03:30',
    '2015-08-09T183142+0330',
    '2015-08-09T15:01:42+00',
    '2015-08-09T15:01:42-0000',
    '20150809T170142+02',
    '+2015-08-09T18:31:42+03:30',
    '%2B2015-08-09T18:31:42%2B03:30',
    '2015-08-09T18:31:42.000%2B03:30',
  ]) {
    const value = same.replace(' ', '%20')
    assert.equal(skus(expect(200, await vendor.get(`/v4/diamond?f[dateFrom]=${value}&f[dateTo]=${value}`))), ['THEN'])
  }
  for (const before of ['2015-08-09T15:01Z', '20150809T1501Z', '2015-08-09T18:31+03:30', '20150809T1701+02']) {
    expect(200, await vendor.get(`/v4/diamond?f[dateFrom]=${before}`))
    expect(204, await vendor.get(`/v4/diamond?f[dateTo]=${before}`))
  }
  expect(204, await vendor.get('/v4/diamond?f[dateFrom]=20150809T150143Z'))
  expect(204, await vendor.get('/v4/diamond?f[dateTo]=20150809T150141Z'))
  expect(200, await vendor.get('/v3/diamond?f[dateTo]=20150809T150142Z'))
})

test('returns the diamonds of a range including its bounds, and their total', async ({ service }) => {
  const vendor = await service.newVendor()
  for (let hour = 0; hour < 10; hour++) {
    time.now = AT + hour * 3_600_000
    await created(vendor, { sku: `H-${hour}` })
  }
  const range = await vendor.get('/v4/diamond?f[dateFrom]=20150809T170142Z&f[dateTo]=20150809T200142Z&limit=2')
  assert.equal(skus(range), ['H-5', 'H-4'])
  assert.is(range.headers['x-total-count'], '4')
  expect(204, await vendor.get('/v4/diamond?f[dateFrom]=20150809T200142Z&f[dateTo]=20150809T170142Z'))
  const filtered = '/v4/diamond?f[dateFrom]=20150809T170142Z&f[isColored]=0&f[sku][]=H-9&f[sku][]=H-0'
  assert.equal(skus(await vendor.get(filtered)), ['H-9'])
})

test('shows the date in UTC with whole seconds, whatever the time zone of the machine', async ({ service }) => {
  const vendor = await service.newVendor()
  time.now = Date.UTC(2014, 10, 27, 21, 11, 0, 987)
  const stone = await created(vendor)
  assert.is(stone['date'], '2014-11-27T21:11:00+00:00')
})

const malformed = [
  '',
  'today',
  '2015-08-09',
  '20150809',
  '20150809T183142',
  '20150809T18+0330',
  '20150809T183142,+0330',
  '2015-08-09 18:31:42Z',
  '20150809T183142+033',
  '20150809T183142+0330x',
  '1439132502',
  '2015-8-9T18:31:42Z',
  '20150809T183142+03:30Z',
]
for (const text of malformed) {
  test(`rejects "${text}" with 400 because it is not a date-time`, async ({ ann }) => {
    for (const name of ['f[dateFrom]', 'f[dateTo]']) {
      const response = await ann.get(`/v4/diamond?${name}=${encodeURIComponent(text)}`)
      assert.equal(pointers(refusal(400, response)), [name])
    }
  })
}

for (const text of [
  '20150231T000000Z',
  '20151301T000000Z',
  '20150809T250000Z',
  '20150809T186142Z',
  '20150809T183161Z',
  '20150809T183142+9959',
  '20150809T183142+0375',
  '0000-00-00T00:00:00Z',
]) {
  test(`rejects ${text} with 422 because no such time exists`, async ({ ann }) => {
    const response = await ann.get(`/v4/diamond?f[dateFrom]=${encodeURIComponent(text)}`)
    assert.equal(pointers(refusal(422, response)), ['f[dateFrom]'])
  })
}

test.run()
