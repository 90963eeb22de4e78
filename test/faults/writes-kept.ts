import * as assert from 'uvu/assert'
import type { Vendor } from '../api/harness/account.ts'
import type { WriteRecord } from './load.ts'
import { everyDiamond } from './serving.ts'

/** Asserts that acknowledged writes are listed exactly once, no bulk is half stored, and lists and totals agree. */
export async function assertWritesKept(ann: Vendor, record: WriteRecord): Promise<void> {
  const [v3, v4] = await Promise.all([everyDiamond(ann, 'v3'), everyDiamond(ann, 'v4')])
  assert.is(v4.total, v4.diamonds.length)
  assert.equal(
    v3.diamonds.map(({ id, sku, price }) => [id, sku, price]),
    v4.diamonds.map(({ id, sku, price }) => [id, sku, price]),
  )
  const bySku = new Map(v4.diamonds.map((diamond) => [diamond.sku, diamond]))
  assert.is(bySku.size, v4.diamonds.length, 'a diamond is listed twice')
  assert.is(new Set(v4.diamonds.map(({ id }) => id)).size, v4.diamonds.length, 'two diamonds share an id')
  for (const [sku, id] of record.created) assert.is(bySku.get(sku)?.id, id, `${sku} was acknowledged as ${id}`)
  for (const [sku, price] of record.priced) assert.is(bySku.get(sku)?.['price'], price, `the price of ${sku}`)
  for (const sku of record.deleted) assert.not.ok(bySku.has(sku), `${sku} was deleted`)
  for (const skus of record.bulks) {
    assert.ok([0, skus.length].includes(skus.filter((sku) => bySku.has(sku)).length), `half of a bulk: ${skus[0]}`)
  }
}
