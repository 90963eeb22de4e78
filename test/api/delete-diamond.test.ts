import * as assert from 'uvu/assert'
import { expect, refusal } from './harness/request.ts'
import { apiSuite } from './harness/service.ts'
import { expectNoChange, created, createdMany } from './harness/stones.ts'

const test = apiSuite('deleting a diamond')

test('returns 204 without a body and removes it from both versions and their lists', async ({ service }) => {
  const vendor = await service.newVendor()
  const { id } = await created(vendor)
  const response = expect(204, await vendor.remove(`/v4/diamond/${id}`))
  assert.is(response.text, '')
  for (const version of ['v3', 'v4']) {
    refusal(404, await vendor.get(`/${version}/diamond/${id}`))
    assert.is(expect(204, await vendor.get(`/${version}/diamond`)).headers['x-total-count'], '0')
  }
})

test('twice, or changing it afterwards, returns 404', async ({ ann }) => {
  const { id } = await created(ann)
  expect(204, await ann.remove(`/v3/diamond/${id}`))
  refusal(404, await ann.remove(`/v4/diamond/${id}`))
  refusal(404, await ann.patch(`/v4/diamond/${id}`, { price: 1 }))
  refusal(404, await ann.patch(`/v4/diamond/${id}`, { price: 1 }, { 'If-Match': '*' }))
  refusal(404, await ann.patch('/v4/diamond/bulk', { entries: [{ id, price: 1 }] }))
  refusal(404, await ann.remove('/v4/diamond/bulk', { entries: [{ id }] }))
})

test('concurrently succeeds once', async ({ ann }) => {
  const { id } = await created(ann)
  const responses = await Promise.all(Array.from({ length: 10 }, () => ann.remove(`/v4/diamond/${id}`)))
  assert.equal(responses.map(({ status }) => status).sort(), [204, ...Array<number>(9).fill(404)])
})

test('with If-Match succeeds only at that revision', async ({ ann }) => {
  const { id } = await created(ann)
  await ann.patch(`/v4/diamond/${id}`, { price: 1 })
  refusal(412, await ann.remove(`/v4/diamond/${id}`, undefined, { 'If-Match': '"0.0"' }))
  expect(204, await ann.remove(`/v4/diamond/${id}`, undefined, { 'If-Match': '"1.5"' }))
})

test('in bulk deletes exactly the given diamonds', async ({ service }) => {
  const vendor = await service.newVendor()
  const stones = await createdMany(vendor, 10)
  const entries = stones.slice(0, 7).map(({ id }) => ({ id }))
  assert.is(expect(204, await vendor.remove('/v4/diamond/bulk', { entries })).text, '')
  assert.is((await vendor.get('/v4/diamond')).headers['x-total-count'], '3')
})

test('in bulk deletes nothing if one of them cannot be deleted', async ({ ann, bob }) => {
  const [mine, deleted, theirs] = [await created(ann), await created(ann), await created(bob)]
  await ann.remove(`/v4/diamond/${deleted.id}`)
  const attempt = (...ids: unknown[]) => ann.remove('/v4/diamond/bulk', { entries: ids.map((id) => ({ id })) })
  await expectNoChange([ann, bob], async () => {
    assert.is(refusal(404, await attempt(mine.id, deleted.id)).details?.[0]?.pointer, '/entries/1')
    const mixed = refusal(403, await attempt(mine.id, deleted.id, theirs.id)).details
    assert.equal(
      mixed?.map(({ pointer }) => pointer),
      ['/entries/1', '/entries/2'],
    )
    const wrong = refusal(422, await attempt(mine.id, theirs.id, 'x')).details
    assert.equal(
      wrong?.map(({ pointer }) => pointer),
      ['/entries/1', '/entries/2/id'],
    )
    assert.is(refusal(422, await attempt(mine.id, mine.id)).details?.[0]?.pointer, '/entries/1/id')
  })
})

test.run()
