import * as assert from 'uvu/assert'
import type { Vendor } from './harness/account.ts'
import { attached, certification } from './harness/form.ts'
import { expect } from './harness/request.ts'
import { apiSuite } from './harness/service.ts'
import { created } from './harness/stones.ts'

const test = apiSuite('the laboratories of an inventory')

const listed = async (vendor: Vendor) => expect(200, await vendor.get('/v4/certification/laboratories')).json()

const certified = async (vendor: Vendor, product: number, laboratory: string) =>
  certification(expect(201, await vendor.post('/v4/certification', { product, laboratory })))

test('are those of the newest report of each diamond, with the number of diamonds', async ({ service }) => {
  const vendor = await service.newVendor()
  assert.equal(await listed(vendor), [])
  const [one, two, three] = [await created(vendor), await created(vendor), await created(vendor)]
  await attached(vendor, one.id)
  await certified(vendor, two.id, 'GIA')
  const igi = await certified(vendor, two.id, 'IGI')
  await certified(vendor, three.id, 'IGI')
  assert.equal(await listed(vendor), [
    { laboratory: 'GIA', stones: 1 },
    { laboratory: 'IGI', stones: 2 },
  ])
  expect(204, await vendor.remove(`/v4/certification/${igi.id}`))
  expect(204, await vendor.remove(`/v4/diamond/${three.id}`))
  assert.equal(await listed(vendor), [{ laboratory: 'GIA', stones: 2 }])
})

test('are those of one account only', async ({ service }) => {
  const [vendor, other] = [await service.newVendor(), await service.newVendor()]
  await certified(vendor, (await created(vendor)).id, 'HRD')
  assert.equal(await listed(other), [])
})

test.run()
