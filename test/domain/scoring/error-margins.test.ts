import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { modelledShapes } from '../../../src/domain/scoring/cut/cut.ts'
import { errorMarginsOf, type ErrorMargins } from '../../../src/domain/scoring/error-margins.ts'

const test = suite('how far a score may be off')

const names = ['integral', 'fire', 'brilliance', 'spread'] as const
const isNarrower = (one: ErrorMargins, other: ErrorMargins) => names.every((name) => one[name] < other[name])
const isNoWider = (one: ErrorMargins, other: ErrorMargins) => names.every((name) => one[name] <= other[name])

const face = { tablePct: 57, depthPct: 61 }
const angles = { ...face, crownAngle: 34.5, pavilionAngle: 40.8 }
const all = { ...angles, starPct: 50, lowerPct: 80 }

for (const shape of modelledShapes)
  test(`of a ${shape} is never more for knowing more, and less where both angles are known, stars and lower halves too`, () => {
    const steps = [{}, { measured: face }, { measured: angles }, { measured: all }].map((known) =>
      errorMarginsOf({ shape, ...known }),
    )
    for (const [index, errors] of steps.entries()) assert.ok(isNoWider(errors, steps[index - 1] ?? errors), `${index}`)
    const [typical, , measured, whole] = steps
    assert.ok(typical && measured && whole && isNarrower(measured, typical))
    assert.ok(whole.brilliance < typical.brilliance / 3, `${whole.brilliance}, typical ${typical.brilliance}`)
    for (const measured of [undefined, face, angles, all]) {
      const known = { shape, ...(measured && { measured }) }
      assert.ok(isNoWider(errorMarginsOf({ ...known, cutGrade: 'Good' }), errorMarginsOf(known)))
    }
  })

test('is that of a shape alone where a report has neither depth nor both angles', () => {
  const typical = errorMarginsOf({ shape: 'Oval' })
  assert.equal(errorMarginsOf({ shape: 'Oval', measured: { tablePct: 57, crownAngle: 34.5 } }), typical)
  assert.equal(errorMarginsOf({ shape: 'Oval', measured: { depthPct: 61, girdlePct: 3 } }), typical)
})

test('is that of table and depth where one of the angles is missing', () => {
  const known = errorMarginsOf({ shape: 'Round', measured: face })
  assert.equal(errorMarginsOf({ shape: 'Round', measured: { ...face, crownAngle: 34.5 } }), known)
  assert.equal(errorMarginsOf({ shape: 'Round', measured: { ...face, pavilionAngle: 40.8, starPct: 50 } }), known)
})

test('is less for spread alone where millimetres are known', () => {
  const typical = errorMarginsOf({ shape: 'Round' })
  const { spread, ...others } = errorMarginsOf({ shape: 'Round', face: { length: 6.5, width: 6.4 } })
  assert.ok(spread < typical.spread)
  const { spread: _, ...usual } = typical
  assert.equal(others, usual)
})

test('of own facets does not depend on what a report says, and is less than of any report', () => {
  const own = errorMarginsOf({ ownFacets: true })
  assert.equal(
    errorMarginsOf({ shape: 'Oval', ownFacets: true, face: { length: 6.5, width: 6.4 }, measured: all }),
    own,
  )
  for (const shape of modelledShapes) {
    // No report says a table of a briolette: the most that is known of one is its shape.
    const measured = shape === 'Briolette' ? {} : { measured: face }
    assert.ok(isNarrower(own, errorMarginsOf({ shape, ...measured })), shape)
  }
})

test('of a shape without a model is that of own facets, since nothing else scores it', () => {
  assert.equal(errorMarginsOf({ shape: 'Other' }), errorMarginsOf({ ownFacets: true }))
})

test.run()
