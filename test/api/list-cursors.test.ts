import * as assert from 'uvu/assert'
import type { Vendor } from './harness/account.ts'
import { expect, pointers, refusal, type ApiResponse } from './harness/request.ts'
import { apiSuite } from './harness/service.ts'
import { created, createdMany, list } from './harness/stones.ts'

const time = { now: Date.UTC(2026, 0, 1) }
const test = apiSuite('listing diamonds by cursor', { clock: () => time.now })

const skus = (response: ApiResponse) => list(response).map(({ sku }) => sku)
const total = (response: ApiResponse) => response.headers['x-total-count']

/** Path and query of a link of a response. */
function linkTarget(response: ApiResponse, relation: string): string | undefined {
  const found = String(response.headers.link ?? '').matchAll(/<([^>]+)>; rel="(\w+)"/g)
  const [, address] = [...found].find(([, , rel]) => rel === relation) ?? []
  return address === undefined ? undefined : new URL(address).pathname + new URL(address).search
}

/** Follows `next` to the last page. @param between runs before each further page */
async function followNext(
  vendor: Vendor,
  first: string,
  between?: (pages: number, last: ApiResponse) => Promise<unknown>,
): Promise<ApiResponse[]> {
  const pages: ApiResponse[] = []
  let path: string | undefined = first
  while (path !== undefined) {
    const page: ApiResponse = expect(200, await vendor.get(path))
    pages.push(page)
    path = linkTarget(page, 'next')
    if (path !== undefined) await between?.(pages.length, page)
  }
  return pages
}

const descending = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}-${count - 1 - index}`)

test('returns pages without gaps through next alone, each with the total', async ({ service }) => {
  const vendor = await service.newVendor()
  await createdMany(vendor, 23, 'P')
  for (const version of ['v3', 'v4']) {
    const pages = await followNext(vendor, `/${version}/diamond?after=&limit=5`)
    assert.equal(
      pages.map((page) => list(page).length),
      [5, 5, 5, 5, 3],
    )
    assert.equal(pages.flatMap(skus), descending('P', 23))
    assert.ok(pages.every((page) => total(page) === '23'))
    assert.ok(pages.every((page) => linkTarget(page, 'first') === `/${version}/diamond?limit=5&after=`))
    assert.ok(pages.every((page) => linkTarget(page, 'prev') === undefined && linkTarget(page, 'last') === undefined))
  }
})

test('ends after a full last page', async ({ service }) => {
  const vendor = await service.newVendor()
  expect(204, await vendor.get('/v4/diamond?after='))
  await createdMany(vendor, 4, 'P')
  assert.is((await followNext(vendor, '/v4/diamond?after=&limit=2')).length, 2)
  assert.is(linkTarget(expect(200, await vendor.get('/v4/diamond?after=')), 'next'), undefined)
})

test('keeps the filters across pages', async ({ service }) => {
  const vendor = await service.newVendor()
  for (let hour = 0; hour < 8; hour++) {
    time.now += 3_600_000
    await created(vendor, { sku: `H-${hour}`, isColored: hour % 2 === 0 })
  }
  const at = (hour: number) => new Date(time.now - (7 - hour) * 3_600_000).toISOString().replace('.000', '')
  const dates = `f[dateFrom]=${at(1)}&f[dateTo]=${at(6)}`
  const pages = await followNext(vendor, `/v4/diamond?after=&limit=2&${dates}`)
  assert.equal(pages.flatMap(skus), ['H-6', 'H-5', 'H-4', 'H-3', 'H-2', 'H-1'])
  assert.equal((await followNext(vendor, `/v4/diamond?f[isColored]=1&limit=1&after=&${dates}`)).flatMap(skus), [
    'H-6',
    'H-4',
    'H-2',
  ])
  assert.ok(pages.every((page) => total(page) === '6'))
})

test('returns each diamond that exists throughout exactly once, despite concurrent creations and deletions', async ({
  service,
}) => {
  const vendor = await service.newVendor()
  const stones = await createdMany(vendor, 20, 'S')
  const doomed = [stones[3], stones[12], stones[17]]
  const pages = await followNext(vendor, '/v4/diamond?after=&limit=3', async (done, last) => {
    await createdMany(vendor, 4, `NEW-${done}`)
    const one = doomed.pop()
    if (one !== undefined) expect(204, await vendor.remove(`/v4/diamond/${one.id}`))
    // The last diamond of the previous page, to which the cursor refers.
    if (done === 4) expect(204, await vendor.remove(`/v4/diamond/${list(last).at(-1)?.id}`))
  })
  const seen = pages.flatMap(skus)
  assert.is(new Set(seen).size, seen.length)
  const stayed = descending('S', 20).filter((sku) => !['S-3', 'S-12', 'S-17'].includes(sku))
  assert.equal(
    seen.filter((sku) => stayed.includes(String(sku))),
    stayed,
  )
})

test('accepts a cursor in the other API version and with another limit', async ({ service }) => {
  const vendor = await service.newVendor()
  await createdMany(vendor, 6, 'P')
  const next = linkTarget(expect(200, await vendor.get('/v4/diamond?after=&limit=2')), 'next') ?? ''
  const cursor = new URLSearchParams(next.split('?')[1]).get('after')
  assert.equal(skus(expect(200, await vendor.get(`/v3/diamond?limit=3&after=${cursor}`))), ['P-3', 'P-2', 'P-1'])
})

test('rejects a cursor that was modified, made up or issued to another account', async ({ ann, bob }) => {
  await createdMany(ann, 3, 'P')
  await created(bob, { sku: 'B' })
  const next = linkTarget(expect(200, await ann.get('/v4/diamond?after=&limit=1')), 'next') ?? ''
  const cursor = new URLSearchParams(next.split('?')[1]).get('after') ?? ''
  expect(200, await ann.get(`/v4/diamond?after=${cursor}`))
  const changed = [...cursor].map(
    (letter, at) => cursor.slice(0, at) + (letter === 'A' ? 'B' : 'A') + cursor.slice(at + 1),
  )
  for (const other of [
    ...changed,
    `${cursor}A`,
    cursor.slice(1),
    cursor.slice(0, -1),
    `${cursor}=`,
    'x',
    '0-17',
    '%00',
  ]) {
    assert.equal(pointers(refusal(400, await ann.get(`/v4/diamond?after=${other}`))), ['after'], other)
  }
  assert.equal(pointers(refusal(400, await bob.get(`/v4/diamond?after=${cursor}`))), ['after'])
})

test('rejects after together with offset, and a duplicate after', async ({ ann }) => {
  assert.equal(pointers(refusal(400, await ann.get('/v4/diamond?after=&offset=0'))), ['offset'])
  assert.equal(pointers(refusal(400, await ann.get('/v4/diamond?after=&after='))), ['after'])
})

test.run()
