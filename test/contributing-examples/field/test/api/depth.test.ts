import * as assert from 'uvu/assert'
import type { Vendor } from './harness/account.ts'
import { expect, pointers, refusal } from './harness/request.ts'
import { isScored, untilEtag } from './harness/scored.ts'
import { apiSuite } from './harness/service.ts'
import { created, list, shown, stone } from './harness/stones.ts'

const test = apiSuite('the depth of a diamond', { scored: true })

async function withDepths(vendor: Vendor, depths: Readonly<Record<string, number | null>>) {
  for (const [sku, depth] of Object.entries(depths)) await created(vendor, { sku, depth })
  return async (query: string) =>
    list(expect(200, await vendor.get(`/v4/diamond?${query}`)))
      .map(({ sku }) => sku)
      .join('')
}

test('is greater than 0 and at most 100 percent, and is not a field of v3', async ({ ann }) => {
  const { id } = await created(ann, { depth: 61.8 })
  assert.is(shown(await ann.get(`/v4/diamond/${id}`))['depth'], 61.8)
  assert.is(shown(await ann.get(`/v3/diamond/${id}`))['depth'], undefined)
  for (const depth of [0, 100.1, 'deep']) {
    assert.equal(pointers(refusal(422, await ann.post('/v4/diamond', stone({ depth })))), ['/depth'])
  }
})

test('filters lists by a range, which excludes diamonds without a depth', async ({ service }) => {
  const found = await withDepths(await service.newVendor(), { A: 61.8, B: 58, C: null, D: 64.1 })
  assert.is(await found('f[depthFrom]=60&sort=depth'), 'AD')
  assert.is(await found('f[depthFrom]=58&f[depthTo]=62&sort=-depth'), 'AB')
})

test('sorts lists in both directions, with diamonds without a depth last', async ({ service }) => {
  const found = await withDepths(await service.newVendor(), { A: 61.8, B: 58, C: null, D: 64.1 })
  assert.is(await found('sort=depth'), 'BADC')
  assert.is(await found('sort=-depth'), 'DABC')
})

test('invalidates scores only when it changes', async ({ ann }) => {
  const { id } = await created(ann, { depth: 61.8 })
  const { scores } = shown(await untilEtag(ann, id, '"0.1"'))
  const same = await ann.patch(`/v4/diamond/${id}`, { depth: 61.8, price: 5000 })
  assert.ok(isScored(shown(expect(200, same))))
  const changed = await ann.patch(`/v4/diamond/${id}`, { depth: 68 })
  assert.not.ok(isScored(shown(expect(200, changed))))
  assert.not.equal(shown(await untilEtag(ann, id, '"2.2"'))['scores'], scores)
})

test.run()
