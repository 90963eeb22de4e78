import * as assert from 'uvu/assert'
import { expect, pointers, refusal, type ApiResponse } from './harness/request.ts'
import { apiSuite } from './harness/service.ts'
import { expectNoChange, created, list, shown, stone, stoneV3 } from './harness/stones.ts'

const test = apiSuite('a diamond in v3 and v4')

const V3_ORDER =
  'id,sku,price,isColored,isPublished,cutShape,carat,clarity,color,cutQuality,polish,symmetry,fluorIntensity,' +
  'fluorColor,fancyGrade,colorHue,colorModifier,date,scores,_links'

const ids = (response: ApiResponse) => list(expect(200, response)).map(({ id }) => id)

type Pair = readonly [field: string, v3: unknown, v4: unknown]

/** One value as v3 and as v4 show it. */
const PAIRS: readonly Pair[] = [
  ['sku', 'S "quoted"', 'S "quoted"'],
  ['price', 12.5, 12.5],
  ['isColored', true, true],
  ['carat', 2.25, 2.25],
  ['cutShape', 2, 'Round'],
  ['clarity', 6, 'VS2'],
  ['clarity', 1, 'FL'],
  ['color', 15, 'D'],
  ['color', 18, 'G'],
  ['cutQuality', 10, 'Ideal'],
  ['polish', 2, 'Very Good'],
  ['symmetry', 1, 'Excellent'],
  ['fluorIntensity', 2, 'FNT'],
  ['fluorColor', 1, 'B'],
  ['fancyGrade', 9, 'Very Light'],
  ['colorHue', 30, 'Green-Yellow'],
  ['colorHue', 23, 'Gray'],
  ['colorModifier', 1, 'Brownish'],
  ['colorModifier', 3, 'Brown'],
]

for (const [field, v3, v4] of PAIRS) {
  test(`has ${field} ${v3} in v3 as ${v4} in v4, whichever version wrote it`, async ({ ann }) => {
    const byV3 = shown(expect(201, await ann.post('/v3/diamond', stoneV3({ [field]: v3 }))))
    const byV4 = shown(expect(201, await ann.post('/v4/diamond', stone({ [field]: v4 }))))
    for (const { id } of [byV3, byV4]) {
      assert.equal(shown(await ann.get(`/v3/diamond/${id}`))[field], v3)
      assert.equal(shown(await ann.get(`/v4/diamond/${id}`))[field], v4)
    }
    const other = await created(ann, {})
    assert.equal(shown(expect(200, await ann.patch(`/v3/diamond/${other.id}`, { [field]: v3 })))[field], v3)
    assert.equal(shown(await ann.get(`/v4/diamond/${other.id}`))[field], v4)
  })
}

test('has the documented v3 fields in the documented order and a v3 Location', async ({ ann, service }) => {
  const response = expect(201, await ann.post('/v3/diamond', stoneV3({ isPublished: true })))
  assert.is(Object.keys(shown(response)).join(','), V3_ORDER)
  assert.is(shown(response)['isPublished'], true)
  assert.is(response.headers.location, `${service.url}/v3/diamond/${shown(response).id}`)
  assert.equal((await ann.get(`/v3/diamond/${shown(response).id}`)).json(), response.json())
})

test('is unpublished at first, and can be published and withdrawn through v3, singly and in bulk', async ({ ann }) => {
  const { id } = shown(await ann.post('/v3/diamond', stoneV3()))
  const isPublished = async () => shown(await ann.get(`/v3/diamond/${id}`))['isPublished']
  assert.is(await isPublished(), false)
  for (const method of ['PUT', 'PATCH']) {
    for (const value of [true, false]) {
      expect(200, await ann.send({ method, path: `/v3/diamond/${id}`, json: { isPublished: value } }))
      assert.is(await isPublished(), value)
      const entries = [{ id, isPublished: !value }]
      expect(200, await ann.send({ method, path: '/v3/diamond/bulk', json: { entries } }))
      assert.is(await isPublished(), !value)
    }
  }
  await ann.patch(`/v3/diamond/${id}`, { isPublished: true })
  assert.is(shown(await ann.patch(`/v3/diamond/${id}`, { isPublished: null }))['isPublished'], false)
})

test('keeps isPublished when v4 changes it, and v4 fields when v3 changes it', async ({ ann }) => {
  const full = { isLabGrown: true, culetSize: 'S', girdle: 'Thin-Medium', access: 2, dataAccess: 1 }
  const { id } = await created(ann, full)
  await ann.patch(`/v3/diamond/${id}`, { isPublished: true, price: 3 })
  const { isLabGrown, culetSize, girdle, access, dataAccess } = shown(
    await ann.patch(`/v4/diamond/${id}`, { price: 4 }),
  )
  assert.equal({ isLabGrown, culetSize, girdle, access, dataAccess }, full)
  assert.equal(shown(await ann.get(`/v3/diamond/${id}`))['isPublished'], true)
})

for (const field of ['isLabGrown', 'culetSize', 'girdle', 'access', 'dataAccess']) {
  test(`has no ${field} in v3`, async ({ ann }) => {
    const { id } = await created(ann)
    for (const response of [
      await ann.post('/v3/diamond', stoneV3({ [field]: null })),
      await ann.patch(`/v3/diamond/${id}`, { [field]: 1 }),
    ]) {
      assert.equal(pointers(refusal(422, response)), [`/${field}`])
    }
  })
}

test('ignores certifications in v3 as in v4', async ({ ann }) => {
  expect(201, await ann.post('/v3/diamond', stoneV3({ certifications: [], id: 5, scores: 1 })))
})

for (const [field, value] of [
  ['cutShape', 'Round'],
  ['cutShape', '2'],
  ['cutShape', 999],
  ['clarity', 'VS2'],
  ['clarity', 0],
  ['color', 'G'],
  ['color', 18.5],
  ['fancyGrade', 'Faint'],
  ['colorHue', 9999],
] as const) {
  test(`accepts only ids in v3: ${field} ${JSON.stringify(value)} is rejected with 422`, async ({ ann }) => {
    assert.equal(pointers(refusal(422, await ann.post('/v3/diamond', stoneV3({ [field]: value })))), [`/${field}`])
  })
}

for (const [given, v4, v3] of [
  ['Cushion Brilliant', 'Cushion Brilliant', 9],
  ['CMB', 'Cushion Modified', 9],
  ['Trilliant', undefined, undefined],
  ['My own cut', 'My own cut', 113],
  ['Square Emerald', undefined, undefined],
] as const) {
  test(`with the shape ${given} is unchanged when its v3 body is sent back`, async ({ ann }) => {
    const stone = await created(ann, { cutShape: given })
    if (v4 !== undefined) assert.is(stone['cutShape'], v4)
    const inV3 = shown(await ann.get(`/v3/diamond/${stone.id}`))
    if (v3 !== undefined) assert.is(inV3['cutShape'], v3)
    await expectNoChange([ann], async () => {
      for (const json of [inV3, { cutShape: inV3['cutShape'] }]) {
        assert.equal(shown(expect(200, await ann.put(`/v3/diamond/${stone.id}`, json))), inV3)
        expect(200, await ann.patch('/v3/diamond/bulk', { entries: [{ ...json, id: stone.id }] }))
      }
    })
    const changed = shown(await ann.patch(`/v3/diamond/${stone.id}`, { ...inV3, price: 5 }))
    assert.equal(changed, { ...inV3, price: 5 })
    assert.is(shown(await ann.get(`/v4/diamond/${stone.id}`))['cutShape'], stone['cutShape'])
  })
}

test('can get another shape through v3, also if its shape is of the tree or a free text', async ({ ann }) => {
  for (const cutShape of ['Cushion Brilliant', 'My own cut', 'Round']) {
    const { id } = await created(ann, { cutShape })
    await ann.patch(`/v3/diamond/${id}`, { cutShape: 85 })
    assert.is(shown(await ann.get(`/v4/diamond/${id}`))['cutShape'], 'Heart')
  }
})

test('is unchanged when it is sent back as it was read, in each version', async ({ ann }) => {
  const rich = {
    price: 1,
    clarity: 'IF',
    fancyGrade: 'Fancy',
    colorHue: 'Pink',
    colorModifier: 'Brownish',
    culetSize: 'VS',
    girdle: 'Thin-Medium',
    fluorIntensity: 'STG',
    fluorColor: 'Y',
    access: 2,
    isColored: true,
  }
  const { id } = await created(ann, rich)
  await expectNoChange([ann], async () => {
    for (const version of ['v3', 'v4']) {
      const path = `/${version}/diamond/${id}`
      const read = expect(200, await ann.get(path))
      const response = expect(200, await ann.put(path, read.json()))
      assert.is(response.text, read.text)
      assert.is(response.headers.etag, read.headers.etag)
    }
  })
})

test('has the same position in both lists, with the same filters', async ({ service }) => {
  const vendor = await service.newVendor()
  for (const [sku, isColored] of [
    ['A', true],
    ['B', false],
    ['A', false],
  ] as const) {
    await created(vendor, { sku, isColored })
  }
  for (const filter of ['', '?f[sku][]=A', '?f[isColored]=1', '?limit=1&offset=1']) {
    const [v3, v4] = await Promise.all([vendor.get(`/v3/diamond${filter}`), vendor.get(`/v4/diamond${filter}`)])
    assert.equal(ids(v3), ids(v4))
    assert.is(v3.headers['x-total-count'], v4.headers['x-total-count'])
  }
})

test.run()
