import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { modelledShapes } from '../../src/optics/cut/cut.ts'
import { errorMarginsOf, type ErrorMargins } from '../../src/optics/error-margins.ts'

const test = suite('the error margin of a score')

const names = ['integral', 'fire', 'brilliance', 'spread'] as const
const isNarrower = (one: ErrorMargins, other: ErrorMargins) => names.every((name) => one[name] < other[name])
const isNoWider = (one: ErrorMargins, other: ErrorMargins) => names.every((name) => one[name] <= other[name])

const face = { tablePct: 57, depthPct: 61 }
const angles = { ...face, crownAngle: 34.5, pavilionAngle: 40.8 }
const all = { ...angles, starPct: 50, lowerPct: 80 }

for (const shape of modelledShapes)
  test(`of a ${shape} never grows with more data, and shrinks when angles, stars and lower halves are known`, () => {
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

test('is that of the shape alone if a report has neither table and depth nor both angles', () => {
  const typical = errorMarginsOf({ shape: 'Oval' })
  assert.equal(errorMarginsOf({ shape: 'Oval', measured: { tablePct: 57, crownAngle: 34.5 } }), typical)
  assert.equal(errorMarginsOf({ shape: 'Oval', measured: { depthPct: 61, girdlePct: 3 } }), typical)
})

test('is that of table and depth if one of the angles is missing', () => {
  const known = errorMarginsOf({ shape: 'Round', measured: face })
  assert.equal(errorMarginsOf({ shape: 'Round', measured: { ...face, crownAngle: 34.5 } }), known)
  assert.equal(errorMarginsOf({ shape: 'Round', measured: { ...face, pavilionAngle: 40.8, starPct: 50 } }), known)
})

test('is smaller for spread only if millimetres are known', () => {
  const typical = errorMarginsOf({ shape: 'Round' })
  const { spread, ...others } = errorMarginsOf({ shape: 'Round', face: { length: 6.5, width: 6.4 } })
  assert.ok(spread < typical.spread)
  const { spread: _, ...usual } = typical
  assert.equal(others, usual)
})

test('of a 3D model does not depend on reports, and is smaller than with any report', () => {
  const own = errorMarginsOf({ ownFacets: true })
  assert.equal(
    errorMarginsOf({ shape: 'Oval', ownFacets: true, face: { length: 6.5, width: 6.4 }, measured: all }),
    own,
  )
  for (const shape of modelledShapes) {
    // A briolette has no table, so its shape is all that a report can state.
    const measured = shape === 'Briolette' ? {} : { measured: face }
    assert.ok(isNarrower(own, errorMarginsOf({ shape, ...measured })), shape)
  }
})

test('of a shape without a shape model is that of a 3D model, which alone can score it', () => {
  assert.equal(errorMarginsOf({ shape: 'Other' }), errorMarginsOf({ ownFacets: true }))
})

test.run()
