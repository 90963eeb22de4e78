import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { weightedLightReturn } from '../../../src/optics/light/light-return.ts'
import { measureFaceUp } from '../../../src/optics/light/face-up.ts'
import { lines, refractiveIndex } from '../../../src/optics/light/diamond-material.ts'
import { crownTargetOf } from '../../../src/optics/light/view.ts'
import { diamondOptics, type RoundMeasures } from '../../../src/optics/cut/trace-cut.ts'
import { isClose, roundOf } from '../cuts.ts'

const test = suite('ray tracing')

const beam = { samples: 8000, index: diamondOptics.index, cutOff: 1e-3 }
const weighted = (measures: Partial<RoundMeasures>) => weightedLightReturn(crownTargetOf(roundOf(measures)), beam)
const fire = (measures: Partial<RoundMeasures>, dispersion: number = diamondOptics.dispersion) =>
  measureFaceUp(roundOf(measures), { index: diamondOptics.index, dispersion }).fire

test("uses diamond's refractive index and dispersion", () => {
  assert.ok(isClose(refractiveIndex(lines.d), 2.41748, 0.00001))
  assert.ok(isClose(refractiveIndex(lines.D), 2.417, 0.0005))
  assert.ok(isClose(refractiveIndex(lines.G) - refractiveIndex(lines.B), 0.044, 0.0005))
})

test('of the reference gives a weighted light return of about 0.28', () => {
  assert.ok(isClose(weighted({}), 0.2819, 0.003))
})

test('gives the same result on every run', () => {
  assert.is(weighted({}), weighted({}))
})

test('gives more light return at a crown of 1 degree than at 23', () => {
  assert.ok(weighted({ crown: 1 }) > weighted({ crown: 23 }))
})

test('gives more light return at a crown of 23 degrees than at 10 and at 34', () => {
  const peak = weighted({ crown: 23 })
  assert.ok(peak > weighted({ crown: 10 }) + 0.005 && peak > weighted({ crown: 34 }) + 0.01)
})

test('gives less light return for steep crowns, large tables, and shallow or steep pavilions', () => {
  const usual = weighted({})
  assert.ok(weighted({ crown: 40 }) < usual - 0.015)
  assert.ok(weighted({ table: 68 }) < usual - 0.01)
  assert.ok(weighted({ pavilion: 36.5 }) < usual - 0.005 && weighted({ pavilion: 43.5 }) < usual - 0.005)
})

test('gives no fire without dispersion', () => {
  assert.is(fire({}, 0), 0)
})

test('gives more fire with a higher crown and less with a larger table', () => {
  assert.ok(fire({ crown: 38 }) > fire({}) && fire({}) > fire({ crown: 25 }))
  assert.ok(fire({}) > fire({ table: 65 }) && fire({ table: 65 }) > fire({ table: 72 }))
})

test.run()
