import * as assert from 'uvu/assert'
import { expect, pointers, refusal } from './harness/request.ts'
import { apiSuite } from './harness/service.ts'
import { expectNoChange, created, shown, stone } from './harness/stones.ts'

const test = apiSuite('creating a diamond through v4')

const NO_SCORES = { integral: null, spread: null, fire: null, brilliance: null, fluor: null, symmetry: null }

/** The documented sample, without what the service assigns. */
const SAMPLE = {
  sku: 'MSSRBC13',
  price: null,
  isColored: false,
  isLabGrown: false,
  cutShape: 2,
  carat: 0.73,
  clarity: 'VS2',
  color: 'G',
  cutQuality: 'Excellent',
  polish: 'Excellent',
  symmetry: 'Excellent',
  fluorIntensity: 'FNT',
  fluorColor: 'B',
  colorHue: null,
  colorModifier: null,
  culetSize: 'N',
  girdle: 'Thin-Medium',
  access: 1,
  dataAccess: 0,
}

test('returns 201, the documented object and its Location', async ({ ann, service }) => {
  const { clock } = service.installation.context
  const second = (time: number) => Math.floor(time / 1000)
  const before = second(clock())
  const response = expect(201, await ann.post('/v4/diamond', SAMPLE))
  const after = second(clock())
  const { id, date, _links, ...rest } = shown(response)
  assert.ok(Number.isSafeInteger(id) && id > 0)
  assert.match(String(date), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/)
  const at = second(Date.parse(String(date)))
  assert.ok(before <= at && at <= after, `${before} ${String(date)} ${after}`)
  assert.equal(rest, {
    ...SAMPLE,
    cutShape: 'Round',
    fancyGrade: null,
    certifications: [],
    scores: NO_SCORES,
  })
  assert.equal(_links, [{ rel: 'page.report', href: `${service.url}/diamond/${id}` }])
  assert.is(response.headers.location, `${service.url}/v4/diamond/${id}`)
  assert.is(response.headers.etag, '"0.0"')
  assert.is(response.headers['content-type'], 'application/json; charset=utf-8')
})

test('returns the fields in the documented order', async ({ ann }) => {
  const order =
    'id,sku,price,isColored,isLabGrown,cutShape,carat,clarity,color,cutQuality,polish,symmetry,fluorIntensity,' +
    'fluorColor,fancyGrade,colorHue,colorModifier,culetSize,girdle,date,access,dataAccess,certifications,scores,_links'
  assert.is(Object.keys(await created(ann)).join(','), order)
})

test('requires only sku, cutShape and carat; other fields have defaults', async ({ ann }) => {
  const stone = await created(ann, {})
  assert.equal(
    [stone['price'], stone['isColored'], stone['isLabGrown'], stone['access'], stone['dataAccess'], stone['clarity']],
    [null, false, false, 0, 0, null],
  )
})

test('names every missing required field in one response', async ({ ann }) => {
  const body = refusal(422, await ann.post('/v4/diamond', {}))
  assert.equal(pointers(body), ['/carat', '/cutShape', '/sku'])
  assert.is(body.error.length, 3)
})

test('treats null like an absent field', async ({ ann }) => {
  const nulls = { price: null, isColored: null, access: null, clarity: null, girdle: null, isLabGrown: null }
  const { id: _id, date: _date, _links, ...withNulls } = await created(ann, nulls)
  const { id: _id2, date: _date2, _links: _links2, ...without } = await created(ann)
  assert.equal(withNulls, without)
  assert.equal(pointers(refusal(422, await ann.post('/v4/diamond', { sku: null, cutShape: null, carat: null }))), [
    '/carat',
    '/cutShape',
    '/sku',
  ])
})

test('ignores the fields that the service assigns, so that a diamond can be sent back as it was read', async ({
  ann,
}) => {
  const first = await created(ann, { sku: 'COPY', clarity: 'IF' })
  const copy = shown(expect(201, await ann.post('/v4/diamond', first)))
  assert.is.not(copy.id, first.id)
  assert.equal({ ...copy, id: 0, date: '', _links: 0 }, { ...first, id: 0, date: '', _links: 0 })
})

for (const assigned of ['id', 'date', 'certifications', 'scores', '_links']) {
  test(`ignores ${assigned}, whatever its value`, async ({ ann }) => {
    const stone = await created(ann, { [assigned]: 'anything' })
    assert.is.not(stone[assigned], 'anything')
  })
}

test('names an unknown field and suggests the nearest known one', async ({ ann }) => {
  const body = refusal(422, await ann.post('/v4/diamond', stone({ caratt: 1 })))
  assert.equal(pointers(body), ['/caratt'])
  assert.match(body.error[0] ?? '', /caratt.*did you mean carat\?/)
})

test('rejects isPublished, a field of v3', async ({ ann }) => {
  assert.equal(pointers(refusal(422, await ann.post('/v4/diamond', stone({ isPublished: true })))), ['/isPublished'])
})

test('accepts a duplicate sku', async ({ ann }) => {
  const [first, second] = [await created(ann, { sku: 'TWICE' }), await created(ann, { sku: 'TWICE' })]
  assert.is.not(first.id, second.id)
})

const accepted: readonly (readonly [field: string, given: unknown, shows: unknown])[] = [
  ['sku', 'x', 'x'],
  ['sku', 'é'.repeat(128), 'é'.repeat(128)],
  ['sku', '\u{1F48E}'.repeat(128), '\u{1F48E}'.repeat(128)],
  ['sku', 'a "quoted" \\ \u2028 <sku>', 'a "quoted" \\ \u2028 <sku>'],
  ['price', 0, 0],
  ['price', -0, 0],
  ['price', 1e21, 1e21],
  ['price', 1234.5, 1234.5],
  ['carat', 10_000, 10_000],
  ['carat', 0.000_01, 0.000_01],
  ['isColored', true, true],
  ['isLabGrown', true, true],
  ['access', 2, 2],
  ['dataAccess', 2, 2],
  ['cutShape', 'Princess', 'Princess'],
  ['cutShape', 'rbc', 'Round'],
  ['cutShape', 'CUSH', 'Cushion Modified'],
  ['cutShape', 'Trilliant of mine', 'Trilliant of mine'],
  ['cutShape', 113, 'Other'],
  ['clarity', 'IF', 'IF'],
  ['clarity', 'vs2', 'VS2'],
  ['clarity', 1, 'FL'],
  ['color', 'G', 'G'],
  ['color', 15, 'D'],
  ['cutQuality', 'Fair', 'Fair'],
  ['cutQuality', 'VG', 'Very Good'],
  ['polish', 'v.g', 'Very Good'],
  ['symmetry', 10, 'Ideal'],
  ['fluorIntensity', 'FL1', 'FNT'],
  ['fluorColor', 'Blue', 'B'],
  ['fancyGrade', 'Fancy Vivid', 'Fancy Vivid'],
  ['colorHue', 'GY', 'Gray'],
  ['colorHue', 'Green-Yellow', 'Green-Yellow'],
  ['colorModifier', 'br', 'Brownish'],
  ['colorModifier', 'Br', 'Brown'],
  ['culetSize', 'Very Small', 'VS'],
  ['girdle', 'thn-thk', 'Thin-Thick'],
]
for (const [field, given, shows] of accepted) {
  test(`accepts ${field} ${JSON.stringify(given).slice(0, 40)} and returns ${JSON.stringify(shows).slice(0, 40)}`, async ({
    ann,
  }) => {
    const stone = await created(ann, { [field]: given })
    assert.equal(stone[field], shows)
    assert.equal(shown(await ann.get(`/v4/diamond/${stone.id}`)), stone)
  })
}

const refused: readonly (readonly [field: string, given: unknown])[] = [
  ['sku', ''],
  ['sku', 'x'.repeat(129)],
  ['sku', '\u{1F48E}'.repeat(129)],
  ['sku', '\ud800'],
  ['sku', 7],
  ['sku', ['x']],
  ['carat', 0],
  ['carat', -1],
  ['carat', 10_000.01],
  ['carat', '0.73'],
  ['carat', true],
  ['carat', {}],
  ['price', -0.01],
  ['price', '12'],
  ['isColored', 1],
  ['isColored', 'true'],
  ['isLabGrown', 0],
  ['access', 3],
  ['access', -1],
  ['access', '1'],
  ['access', 0.5],
  ['dataAccess', 3],
  ['cutShape', ''],
  ['cutShape', 'x'.repeat(65)],
  ['cutShape', 3.5],
  ['cutShape', 999_999],
  ['cutShape', []],
  ['clarity', 'VS9'],
  ['clarity', 9999],
  ['clarity', 1.5],
  ['clarity', false],
  ['color', 'A'],
  ['color', ''],
  ['cutQuality', 'Superb'],
  ['polish', {}],
  ['symmetry', 0],
  ['fluorIntensity', 'loud'],
  ['fluorColor', 'mauve'],
  ['fancyGrade', 'plain'],
  ['colorHue', 'infrared'],
  ['colorModifier', 'shiny'],
  ['culetSize', 3],
  ['culetSize', 'gigantic'],
  ['girdle', 'Thin-'],
  ['girdle', 1],
]
for (const [field, given] of refused) {
  test(`rejects ${field} ${JSON.stringify(given).slice(0, 40)} by name and writes nothing`, async ({ ann }) => {
    await expectNoChange([ann], async () => {
      const body = refusal(422, await ann.post('/v4/diamond', stone({ [field]: given })))
      assert.equal(pointers(body), [`/${field}`])
    })
  })
}

test('reports all errors of a request at once', async ({ ann }) => {
  const body = refusal(
    422,
    await ann.post('/v4/diamond', { sku: '', carat: -1, clarity: 'no', nonsense: 1, 'a/b~c': 2 }),
  )
  assert.equal(pointers(body), ['/a~1b~0c', '/carat', '/clarity', '/cutShape', '/nonsense', '/sku'])
})

test('is visible to the next read, by id and in lists, in v3 and v4', async ({ service }) => {
  const vendor = await service.newVendor()
  for (let number = 0; number < 20; number++) {
    const stone = await created(vendor, { sku: `SEEN-${number}` })
    const responses = await Promise.all([
      vendor.get(`/v4/diamond/${stone.id}`),
      vendor.get(`/v3/diamond/${stone.id}`),
      vendor.get('/v4/diamond?limit=1'),
      vendor.get('/v3/diamond?limit=1'),
    ])
    assert.equal(
      responses.map((response) => response.status),
      [200, 200, 200, 200],
    )
    const [first, , newest, newestV3] = responses.map((response) => [response.json()].flat()[0] as { id: number })
    assert.equal([first?.id, newest?.id, newestV3?.id], [stone.id, stone.id, stone.id])
    assert.is(responses[2]?.headers['x-total-count'], String(number + 1))
  }
})

test.run()
