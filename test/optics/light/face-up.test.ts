import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { errorMarginsOf } from '../../../src/optics/error-margins.ts'
import { compareFaces, measureFaceUp, type FaceUpMetrics } from '../../../src/optics/light/face-up.ts'
import { facetModels } from '../../../src/optics/cut/facets.ts'
import { proportionsOf } from '../../../src/optics/cut/proportions.ts'
import { diamondOptics, type RoundMeasures } from '../../../src/optics/cut/trace-cut.ts'
import { requiredFrame } from '../../../src/optics/score-formulas.ts'
import { solidOf, type Solid } from '../../../src/optics/solid/solid.ts'
import { isClose, nominalCut, roundOf, rotatedBy } from '../cuts.ts'

const test = suite('a face-up stone')

const { index, dispersion } = diamondOptics
const metricsOf = (solid: Solid, fineness = 1) => measureFaceUp(solid, { index, dispersion, fineness })
const reference = metricsOf(roundOf({}))
const round = (measures: Partial<RoundMeasures>) => metricsOf(roundOf(measures))
const relativeBrilliance = (face: FaceUpMetrics) => compareFaces(face, reference, requiredFrame('Round'))
const brillianceOfRound = (measures: Partial<RoundMeasures>) => relativeBrilliance(round(measures))

test('has the same metrics on every run', () => assert.equal(metricsOf(roundOf({})), reference))

test('has metrics within 1.5 percent of those with four times as many spots', () => {
  const fine = metricsOf(roundOf({}), 4)
  for (const name of ['brightness', 'contrast', 'variety', 'lit', 'frame', 'fire', 'tableFire'] as const)
    assert.ok(isClose(reference[name] / fine[name], 1, 0.015), `${name}: ${reference[name]}, not ${fine[name]}`)
})

test('has metrics that do not depend on its size', () => {
  const { facets } = roundOf({})
  const larger = solidOf(facets.map((facet) => ({ ...facet, offset: 1.7 * facet.offset })))
  const found = metricsOf(larger)
  for (const name of ['brightness', 'contrast', 'variety', 'lit', 'fire', 'tableFire', 'tableLeak'] as const)
    assert.ok(isClose(found[name] / reference[name], 1, 0.02), `${name}: ${found[name]}, not ${reference[name]}`)
})

test('has the same brilliance after a rotation, within the sampling error in d', () => {
  const other = relativeBrilliance(metricsOf(rotatedBy(roundOf({}), 1)))
  const { brilliance } = errorMarginsOf({ ownFacets: true })
  assert.is(relativeBrilliance(reference), 1)
  assert.ok(isClose(other, 1, brilliance), `${other}`)
})

test("is dull if its pavilion reflects the observer's head", () => {
  assert.ok(round({ pavilion: 44 }).brightness < 0.9 * reference.brightness)
  assert.ok(round({ pavilion: 44 }).lit < 0.95 * reference.lit)
  assert.ok(brillianceOfRound({ pavilion: 44 }) < 0.85)
})

test('is dull without contrast between neighbouring spots, however bright it is', () => {
  const flat = round({ crown: 5 })
  assert.ok(flat.brightness > reference.brightness)
  assert.ok(flat.contrast < 0.75 * reference.contrast && flat.variety < 0.9 * reference.variety)
  assert.ok(brillianceOfRound({ crown: 5 }) < 0.7)
})

test('is dull as a fish-eye', () => assert.ok(brillianceOfRound({ pavilion: 38 }) < 0.9))

test('is less even with a dark middle or ring: a fish-eye, a nailhead, a flat crown', () => {
  assert.ok(round({ pavilion: 38 }).evenness < 0.95 * reference.evenness)
  assert.ok(round({ pavilion: 44 }).evenness < 0.9 * reference.evenness)
  assert.ok(round({ crown: 10 }).evenness < 0.6 * reference.evenness)
})

test('has a frame that is the share of its face outside the table', () => {
  // Seen face up, a table of 56 % covers 0.56² of the face, times a factor for its eight sides.
  const octagon = (8 / Math.PI) * Math.tan(Math.PI / 8) * Math.cos(Math.PI / 8) ** 2
  assert.ok(isClose(reference.frame, 1 - 0.56 ** 2 * octagon, 0.05), `${reference.frame}`)
  assert.ok(round({ table: 75 }).frame < 0.55)
})

test('is dull if light leaks under its table because of a steep crown and a deep pavilion', () => {
  const steepAndDeep = { crown: 37, pavilion: 42.4 }
  assert.ok(round(steepAndDeep).tableLeak > 1.5 * reference.tableLeak, `${round(steepAndDeep).tableLeak}`)
  assert.ok(brillianceOfRound(steepAndDeep) < 0.8, `${brillianceOfRound(steepAndDeep)}`)
})

test('shows less colour through the table of a fish-eye, a nailhead and a flat crown', () => {
  for (const measures of [{ pavilion: 38 }, { pavilion: 44 }, { crown: 10 }])
    assert.ok(round(measures).tableFire < 0.7 * reference.tableFire, `${JSON.stringify(measures)}`)
})

test('is at most 1 percent better than the stone it is compared with', () => {
  const better = {
    ...reference,
    contrast: 2 * reference.contrast,
    variety: 2 * reference.variety,
    brightness: 2 * reference.brightness,
  }
  assert.is(relativeBrilliance(better), 1.01)
  assert.is(
    relativeBrilliance({ ...reference, brightness: 2 * reference.brightness, lit: 1, evenness: 1, tableLeak: 0 }),
    1,
  )
})

test('is dull with a table of 75 percent', () => assert.ok(brillianceOfRound({ table: 75 }) < 0.7))

test('is not penalized for a table that is usual for its shape, and increasingly for a larger one', () => {
  const stepCut = (table: number) =>
    metricsOf(solidOf(facetModels.Emerald({ ...proportionsOf(nominalCut('Emerald', 'Excellent')), table })))
  const counted = (face: FaceUpMetrics) =>
    compareFaces(face, reference, requiredFrame('Emerald')) / compareFaces(face, reference, 0.001)
  assert.is(counted(stepCut(0.65)), 1)
  assert.is(counted(stepCut(0.7)), 1)
  assert.ok(counted(stepCut(0.82)) < 0.85 && counted(stepCut(0.9)) < counted(stepCut(0.82)))
  assert.is(compareFaces(reference, reference, requiredFrame('Emerald')), 1)
})

test('has no fire without dispersion, or with so little that the eye blurs it', () => {
  assert.is(measureFaceUp(roundOf({}), { index, dispersion: 0 }).fire, 0)
  assert.is(measureFaceUp(roundOf({}), { index, dispersion: dispersion / 1000 }).fire, 0)
})

test('has more than twice the fire with twice the dispersion, because the eye blurs small dispersion', () =>
  assert.ok(measureFaceUp(roundOf({}), { index, dispersion: 2 * dispersion }).fire > 2 * reference.fire))

test('is sampled through one of its halves if it is a heart', () => {
  const heart = metricsOf(solidOf(facetModels.Heart(proportionsOf(nominalCut('Heart', 'Excellent')))))
  assert.ok(heart.brightness > 0.3 && heart.brightness < 0.6 && heart.lit > 0.5, JSON.stringify(heart))
})

test.run()
