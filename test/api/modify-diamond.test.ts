import * as assert from 'uvu/assert'
import { expect, pointers, refusal } from './harness/request.ts'
import { apiSuite } from './harness/service.ts'
import { expectNoChange, created, shown } from './harness/stones.ts'

const test = apiSuite('modifying a diamond')

const FULL = {
  sku: 'FULL',
  price: 100,
  isColored: true,
  isLabGrown: true,
  cutShape: 'Oval',
  carat: 1.5,
  clarity: 'VS1',
  color: 'H',
  cutQuality: 'Good',
  polish: 'Fair',
  symmetry: 'Poor',
  fluorIntensity: 'M',
  fluorColor: 'W',
  fancyGrade: 'Fancy',
  colorHue: 'Pink',
  colorModifier: 'Purplish',
  culetSize: 'S',
  girdle: 'Medium',
  access: 2,
  dataAccess: 1,
}

for (const method of ['PUT', 'PATCH']) {
  test(`by ${method} changes only the fields sent and returns 200 with the object`, async ({ ann }) => {
    const before = await created(ann, FULL)
    const path = `/v4/diamond/${before.id}`
    const response = expect(200, await ann.send({ method, path, json: { price: 7.5, clarity: 'IF' } }))
    assert.equal(response.json(), { ...before, price: 7.5, clarity: 'IF' })
    assert.is(response.headers.etag, '"1.0"')
    assert.equal((await ann.get(path)).json(), response.json())
  })
}

const defaults = {
  price: null,
  isColored: false,
  isLabGrown: false,
  clarity: null,
  color: null,
  cutQuality: null,
  polish: null,
  symmetry: null,
  fluorIntensity: null,
  fluorColor: null,
  fancyGrade: null,
  colorHue: null,
  colorModifier: null,
  culetSize: null,
  girdle: null,
  access: 0,
  dataAccess: 0,
}
for (const [field, value] of Object.entries(defaults)) {
  test(`with ${field} null resets it to ${value}`, async ({ ann }) => {
    const before = await created(ann, FULL)
    const after = shown(expect(200, await ann.patch(`/v4/diamond/${before.id}`, { [field]: null })))
    assert.is(after[field], value)
    const path = `/v4/diamond/${before.id}`
    assert.equal({ ...after, [field]: 0, _links: 0 }, { ...before, [field]: 0, _links: 0 })
    assert.equal(shown(await ann.get(path)), after)
  })
}

for (const field of ['sku', 'cutShape', 'carat']) {
  test(`cannot remove ${field}`, async ({ ann }) => {
    const { id } = await created(ann)
    await expectNoChange([ann], async () => {
      assert.equal(pointers(refusal(422, await ann.patch(`/v4/diamond/${id}`, { [field]: null, price: 1 }))), [
        `/${field}`,
      ])
    })
  })
}

test('without any change keeps its revision', async ({ ann }) => {
  const before = await created(ann, FULL)
  for (const json of [{}, before, { price: 100 }, { date: 'x', id: 99 }]) {
    const response = expect(200, await ann.patch(`/v4/diamond/${before.id}`, json))
    assert.is(response.headers.etag, '"0.0"')
    assert.equal(response.json(), before)
  }
})

test('reports all errors at once and changes nothing', async ({ ann }) => {
  const { id } = await created(ann)
  await expectNoChange([ann], async () => {
    const json = { price: -1, carat: 'heavy', sku: null, color: 'Q9', colour: 'G' }
    const body = refusal(422, await ann.patch(`/v4/diamond/${id}`, json))
    assert.equal(pointers(body), ['/carat', '/color', '/colour', '/price', '/sku'])
    assert.match(body.error.join(), /did you mean color\?/)
  })
})

test('is visible to the next read and in both lists', async ({ service }) => {
  const vendor = await service.newVendor()
  const { id } = await created(vendor)
  for (let number = 1; number <= 20; number++) {
    await vendor.patch(`/v4/diamond/${id}`, { sku: `N-${number}` })
    for (const version of ['v3', 'v4']) {
      assert.is(shown(await vendor.get(`/${version}/diamond/${id}`)).sku, `N-${number}`)
      assert.is((await vendor.get(`/${version}/diamond?f[sku][]=N-${number}`)).headers['x-total-count'], '1')
    }
    assert.is((await vendor.get(`/v4/diamond?f[sku][]=N-${number - 1}`)).status, 204)
  }
})

test('with If-Match succeeds only if the revision is one of the given ones', async ({ ann }) => {
  const { id } = await created(ann)
  const path = `/v4/diamond/${id}`
  expect(200, await ann.patch(path, { price: 1 }, { 'If-Match': '"0.0"' }))
  refusal(412, await ann.patch(path, { price: 2 }, { 'If-Match': '"0.0"' }))
  expect(200, await ann.patch(path, { price: 2 }, { 'If-Match': '"0.0", "1.0"' }))
  expect(200, await ann.patch(path, { price: 3 }, { 'If-Match': '*' }))
  assert.is(shown(await ann.get(path))['price'], 3)
})

test('with If-Match compares only the revision of the diamond, not that of its scores', async ({ ann }) => {
  const { id } = await created(ann)
  expect(200, await ann.patch(`/v4/diamond/${id}`, { price: 1 }, { 'If-Match': '"0.7"' }))
})

test('with an If-Match that a proxy has weakened or suffixed succeeds only at its revision', async ({ ann }) => {
  const { id } = await created(ann)
  const path = `/v4/diamond/${id}`
  for (const [revision, tag] of ['W/"0.0"', '"1.0-gzip"', 'W/"2.1-br"', '"9.0", W/"3.0"'].entries()) {
    expect(200, await ann.patch(path, { price: revision + 1 }, { 'If-Match': tag }))
    refusal(412, await ann.patch(path, { price: 100 }, { 'If-Match': tag }))
  }
})

test('with a malformed, foreign or empty If-Match is rejected', async ({ ann }) => {
  const { id } = await created(ann)
  await expectNoChange([ann], async () => {
    for (const tag of ['W/"7.0"', '"0"', '"0.0-"', 'x', '""', '']) {
      refusal(412, await ann.patch(`/v4/diamond/${id}`, { price: 1 }, { 'If-Match': tag }))
      refusal(412, await ann.remove(`/v4/diamond/${id}`, undefined, { 'If-Match': tag }))
    }
  })
})

test('with If-Match succeeds for one of many concurrent requests', async ({ ann }) => {
  const { id } = await created(ann)
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, price) =>
      ann.patch(`/v4/diamond/${id}`, { price: price + 1 }, { 'If-Match': '"0.0"' }),
    ),
  )
  assert.equal(responses.map(({ status }) => status).sort(), [200, ...Array<number>(19).fill(412)])
  assert.is((await ann.get(`/v4/diamond/${id}`)).headers.etag, '"1.0"')
})

test('concurrently loses no change', async ({ ann }) => {
  const { id } = await created(ann)
  const fields = Object.entries(FULL)
  const responses = await Promise.all(
    fields.map(([field, value]) => ann.patch(`/v4/diamond/${id}`, { [field]: value })),
  )
  assert.ok(responses.every(({ status }) => status === 200))
  const { id: _id, date: _date, ...rest } = shown(await ann.get(`/v4/diamond/${id}`))
  const { id: _other, date: _otherDate, ...full } = await created(ann, FULL)
  assert.equal({ ...rest, _links: 0 }, { ...full, _links: 0 })
})

test.run()
