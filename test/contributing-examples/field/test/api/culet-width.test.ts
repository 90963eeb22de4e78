import * as assert from 'uvu/assert'
import type { Vendor } from './harness/account.ts'
import { expect, pointers, refusal } from './harness/request.ts'
import { isScored, untilEtag } from './harness/scored.ts'
import { apiSuite } from './harness/service.ts'
import { created, list, shown, stone } from './harness/stones.ts'

const test = apiSuite("the width of a diamond's culet", { scored: true })

async function withWidths(vendor: Vendor, widths: Readonly<Record<string, number | null>>) {
  for (const [sku, culetWidth] of Object.entries(widths)) await created(vendor, { sku, culetWidth })
  return async (query: string) =>
    list(expect(200, await vendor.get(`/v4/diamond?${query}`)))
      .map(({ sku }) => sku)
      .join('')
}

test('is greater than 0 and at most 20 percent, and is not a field of v3', async ({ ann }) => {
  const { id } = await created(ann, { culetWidth: 0.9 })
  assert.is(shown(await ann.get(`/v4/diamond/${id}`))['culetWidth'], 0.9)
  assert.is(shown(await ann.get(`/v3/diamond/${id}`))['culetWidth'], undefined)
  for (const culetWidth of [0, 20.1, 'wide']) {
    assert.equal(pointers(refusal(422, await ann.post('/v4/diamond', stone({ culetWidth })))), ['/culetWidth'])
  }
})

test('filters lists by a range, which excludes diamonds without a width', async ({ service }) => {
  const found = await withWidths(await service.newVendor(), { A: 0.9, B: 0.2, C: null, D: 4 })
  assert.is(await found('f[culetWidthFrom]=0.5&sort=culetWidth'), 'AD')
  assert.is(await found('f[culetWidthFrom]=0.2&f[culetWidthTo]=1&sort=-culetWidth'), 'AB')
})

test('sorts lists in both directions, with diamonds without a width last', async ({ service }) => {
  const found = await withWidths(await service.newVendor(), { A: 0.9, B: 0.2, C: null, D: 4 })
  assert.is(await found('sort=culetWidth'), 'BADC')
  assert.is(await found('sort=-culetWidth'), 'DABC')
})

test('invalidates scores only when it changes', async ({ ann }) => {
  const { id } = await created(ann, { culetWidth: 0.9 })
  const { scores } = shown(await untilEtag(ann, id, '"0.1"'))
  const same = await ann.patch(`/v4/diamond/${id}`, { culetWidth: 0.9, price: 5000 })
  assert.ok(isScored(shown(expect(200, same))))
  const changed = await ann.patch(`/v4/diamond/${id}`, { culetWidth: 9 })
  assert.not.ok(isScored(shown(expect(200, changed))))
  assert.not.equal(shown(await untilEtag(ann, id, '"2.2"'))['scores'], scores)
})

test.run()
