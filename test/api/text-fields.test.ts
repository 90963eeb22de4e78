import * as assert from 'uvu/assert'
import { expect, pointers, refusal } from './harness/request.ts'
import { apiSuite } from './harness/service.ts'
import { expectNoChange, created, current, list, shown, stone } from './harness/stones.ts'

const test = apiSuite('a text field of a diamond')

test('is trimmed, in every field and by every request', async ({ ann }) => {
  const given = {
    sku: ' A 7\t',
    cutShape: '  round ',
    clarity: ' vs2 ',
    color: 'G ',
    cutQuality: '\n Excellent',
    fluorIntensity: ' FNT',
    culetSize: ' n ',
    girdle: ' thin - medium ',
  }
  const expected = {
    sku: 'A 7',
    cutShape: 'Round',
    clarity: 'VS2',
    color: 'G',
    cutQuality: 'Excellent',
    fluorIntensity: 'FNT',
    culetSize: 'N',
    girdle: 'Thin-Medium',
  }
  const one = shown(expect(201, await ann.post('/v4/diamond', stone(given))))
  const bulk = expect(201, await ann.post('/v4/diamond/bulk', { entries: [stone(given)] })).json() as (typeof one)[]
  const plain = await created(ann)
  const changed = shown(expect(200, await ann.patch(`/v4/diamond/${plain.id}`, given)))
  for (const diamond of [one, ...bulk, changed]) {
    for (const [field, value] of Object.entries(expected)) assert.is(diamond[field], value)
  }
  assert.is(shown(expect(201, await ann.post('/v4/diamond', stone({ cutShape: ' Old Mine ' })))).cutShape, 'Old Mine')
  const v3 = shown(expect(201, await ann.post('/v3/diamond', stone({ sku: '\u00a0B\u3000', cutShape: 2 }))))
  assert.is(v3.sku, 'B')
})

test('is normalised: invisible characters are removed, and each run of blanks becomes one space', async ({ ann }) => {
  const given = { sku: '\u200bA\u00a07\ufeff', cutShape: 'Round\u00a0 Brilliant', cutQuality: 'Very\u2009Good\u200b' }
  const diamond = shown(expect(201, await ann.post('/v4/diamond', stone(given))))
  assert.equal([diamond.sku, diamond.cutShape, diamond.cutQuality], ['A 7', 'Round', 'Very Good'])
  for (const sku of ['A 7', '\u200bA\u00a07', 'A\u20077']) {
    const found = list(await current(ann, `/v4/diamond?f[sku][]=${encodeURIComponent(sku)}`))
    assert.ok(
      found.some(({ id }) => id === diamond.id),
      JSON.stringify(sku),
    )
  }
})

for (const [description, text] of [
  ['of blanks', '  \t\u00a0'],
  ['of invisible characters', '\u200b\ufeff'],
  ['with a NUL', 'A\u0000B'],
  ['with a line feed', 'A\nB'],
  ['with a tab', 'A\tB'],
  ['with a DEL', 'A\u007fB'],
  ['with a C1 control character', 'A\u0085B'],
  ['with an escape', '\u001b[31mA'],
] as const) {
  test(`${description} is rejected with 422 and changes nothing`, async ({ ann }) => {
    const { id } = await created(ann)
    await expectNoChange([ann], async () => {
      for (const field of ['sku', 'cutShape', 'clarity', 'girdle', 'culetSize']) {
        const json = { [field]: text }
        assert.equal(pointers(refusal(422, await ann.post('/v4/diamond', stone(json)))), [`/${field}`])
        assert.equal(pointers(refusal(422, await ann.patch(`/v4/diamond/${id}`, json))), [`/${field}`])
        const entries = [stone(json)]
        assert.equal(pointers(refusal(422, await ann.post('/v4/diamond/bulk', { entries }))), [`/entries/0/${field}`])
      }
    })
  })
}

for (const [text, meant] of [
  ['Rund', 'Round'],
  ['ROUDN', 'Round'],
  ['Princes', 'Princess'],
  ['Cushon', 'Cushion'],
  ['cushion modifed', 'Cushion Modified'],
  ['Marquis', 'Marquise'],
  ['Asher', 'Asscher'],
  ['Ovale', 'Oval'],
  ['Pera', 'Pear'],
  ['Harts', 'Heart'],
  ['Round Briliant', 'Round Brilliant'],
] as const) {
  test(`that misspells a shape is rejected with 422 and a suggestion: ${text}`, async ({ ann }) => {
    const { id } = await created(ann)
    for (const response of [
      await ann.post('/v4/diamond', stone({ cutShape: text })),
      await ann.patch(`/v4/diamond/${id}`, { cutShape: text }),
    ]) {
      const body = refusal(422, response)
      assert.equal(pointers(body), ['/cutShape'])
      assert.ok(body.error[0]?.includes(`did you mean ${meant}?`), body.error[0])
    }
  })
}

const CUSTOM_SHAPES = [
  'Trilliant',
  'Rose',
  'Star',
  'Leaf',
  'Kite',
  'Shield',
  'Half Moon',
  'Old Mine',
  'Baguette',
  'My 2nd',
  'Oct',
]
for (const cutShape of CUSTOM_SHAPES) {
  test(`that names an unknown shape is kept as written: ${cutShape}`, async ({ ann }) => {
    const stored = shown(expect(201, await ann.post('/v4/diamond', stone({ cutShape }))))
    assert.is(stored.cutShape, cutShape)
    assert.is(shown(await ann.get(`/v3/diamond/${stored.id}`))['cutShape'], 113)
    expect(200, await ann.patch(`/v4/diamond/${stored.id}`, stored))
  })
}

for (const cutShape of ['2', ' 113 ', '007', '99999']) {
  test(`of digits is rejected as a shape: ${cutShape}`, async ({ ann }) => {
    assert.equal(pointers(refusal(422, await ann.post('/v4/diamond', stone({ cutShape })))), ['/cutShape'])
  })
}

test.run()
