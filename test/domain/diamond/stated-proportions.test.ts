import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { statedProportions } from '../../../src/domain/diamond/stated-proportions.ts'
import { withDefaults, type NewDiamond } from '../../../src/domain/diamond/fields.ts'
import { proportionFields } from '../../fixtures/proportions.ts'

const test = suite("the owner's proportions")

const stated = (proportions: Readonly<Record<string, number>>, fields: Partial<NewDiamond> = {}) => {
  return statedProportions(
    withDefaults({ sku: 'A-1', cutShape: 2, carat: 1.01, ...fields, ...proportionFields(proportions) }),
  )
}

const UNUSED = ': of these proportions only length and width are used'
const ROUND = { length: 6.44, width: 6.41, height: 3.98, table: 57, depth: 61.9, crownAngle: 34.5, pavilionAngle: 40.8 }
const size = { length: 6.44, width: 6.41, depth: 3.98 }

test('are undefined if none is stated', () => assert.is(stated({}), undefined))

test('are used if they agree with each other and with the weight', () => {
  const { length: _length, width: _width, height: _height, ...others } = ROUND
  assert.equal(stated(ROUND), { proportions: { ...others, size }, contradictions: [] })
  assert.equal(stated({ table: 57 }), { proportions: { table: 57 }, contradictions: [] })
})

test('have no size without length and width, and one without a depth if there is no height', () => {
  assert.equal(stated({ length: 6.44, height: 3.98 })?.proportions, {})
  assert.equal(stated({ length: 6.44, width: 6.41 })?.proportions, { size: { length: 6.44, width: 6.41 } })
})

test('may differ by what reports round', () => {
  const rounded = { table: 57, crownAngle: 34.5, crownHeight: 15, girdle: 4, pavilionAngle: 40.8, pavilionDepth: 43 }
  assert.equal(stated({ ...rounded, depth: 61.3 })?.contradictions, [])
  assert.equal(stated({ depth: 61.5, length: 6.44, width: 6.41, height: 3.98 })?.contradictions, [])
})

test('of a fancy shape have a depth in percent of the width or of the mean of both sides', () => {
  const oval = { length: 8.01, width: 5.92, height: 3.61 }
  for (const depth of [61, 51.8]) assert.equal(stated({ ...oval, depth }, { cutShape: 11 })?.contradictions, [])
  assert.is(stated({ ...oval, depth: 56.5 }, { cutShape: 11 })?.contradictions.length, 1)
})

for (const [contradiction, proportions] of [
  ['The crown height is 10 %, but table and crown angle give 14.8 %', { table: 57, crownAngle: 34.5, crownHeight: 10 }],
  ['The pavilion depth is 47 %, but the pavilion angle gives 43.2 %', { pavilionAngle: 40.8, pavilionDepth: 47 }],
  [
    'The depth is 66 %, but crown, girdle and pavilion add up to 61.5 %',
    { crownHeight: 15, girdle: 3.5, pavilionDepth: 43, depth: 66 },
  ],
  ['The depth is 66 %, but height and width give 62.1 %', { depth: 66, height: 3.98 }],
] as const)
  test(`that contradict each other leave only length and width: ${contradiction}`, () => {
    const { length, width } = size
    assert.equal(stated({ length, width, ...proportions }), {
      proportions: { size: { length, width } },
      contradictions: [contradiction + UNUSED],
    })
  })

test('that do not fit the weight have no size, but keep the others', () => {
  const inches = { length: 0.253, width: 0.252, height: 0.157 }
  assert.equal(stated({ ...inches, table: 57 }), {
    proportions: { table: 57 },
    contradictions: ['No diamond of 1.01 carats measures 0.253 x 0.252 x 0.157 mm: its size is not used'],
  })
  assert.is(stated({ length: 64.4, width: 64.1 })?.contradictions.length, 1)
})

test('that do not fit the weight are not compared with the depth', () => {
  const misread = { length: 5.12, width: 5.15, height: 31.8 }
  assert.equal(stated({ ...misread, depth: 61.8 }, { carat: 0.51 }), {
    proportions: { depth: 61.8 },
    contradictions: ['No diamond of 0.51 carats measures 5.12 x 5.15 x 31.8 mm: its size is not used'],
  })
})

test.run()
