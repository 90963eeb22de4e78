import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { cutGrades, modelledShapes, type Cut } from '../../../src/domain/scoring/cut/cut.ts'
import { facetModels } from '../../../src/domain/scoring/cut/facets.ts'
import { errorMarginsOf } from '../../../src/domain/scoring/error-margins.ts'
import { relativePerformance } from '../../../src/domain/scoring/score-formulas.ts'
import {
  roundProportions,
  traceCut,
  traceReference,
  traceSolid,
  type TracedCut,
} from '../../../src/domain/scoring/cut/trace-cut.ts'
import { referenceCut, tracedCuts, findTracedCut } from '../../../src/domain/scoring/score.ts'
import { solidOf } from '../../../src/domain/scoring/solid/solid.ts'
import { plain } from './cuts.ts'

const test = suite('the table of traced cuts')

const errors = errorMarginsOf({ ownFacets: true })

const isFull = process.env['ADAMANT_FULL'] === '1'

test('has every shape in every grade, and what is typical of it', () => {
  assert.is(Object.keys(tracedCuts).length, modelledShapes.length * cutGrades.length)
  for (const shape of modelledShapes)
    for (const grade of cutGrades) assert.ok(findTracedCut(plain(shape, grade)), `${shape} ${grade}`)
})

test('knows no cut whose culet, girdle or measures differ from its grade', () => {
  const cut = plain('Round', 'Good')
  const others: Cut[] = [
    { ...cut, culet: 'Large' },
    { ...cut, girdle: ['Thin', 'Medium'] },
    { ...cut, measured: { tablePct: 57 } },
  ]
  assert.ok(others.every((other) => findTracedCut(other) === undefined))
  assert.ok(findTracedCut({ ...cut, culet: 'None' }))
})

test('knows a cut of every polish and symmetry, and says of it what tracing it would', () => {
  const cut: Cut = { ...plain('Oval', 'Excellent'), polish: 'Fair', symmetry: 'Poor' }
  const [known, usual] = [findTracedCut(cut), findTracedCut(plain('Oval', 'Excellent'))]
  assert.ok(known && usual && known.factors.brilliance < usual.factors.brilliance)
  same(traceCut(cut), known)
})

function same(traced: TracedCut, kept: TracedCut | undefined): void {
  const numbers = ({ factors, ...figures }: TracedCut) => Object.entries({ ...figures, ...factors })
  const others = new Map(kept && numbers(kept))
  for (const [name, value] of numbers(traced)) {
    const other = others.get(name)
    assert.ok(
      Math.abs((value ?? NaN) - (other ?? NaN)) <= 0.002,
      `${name}: ${value}, in the table ${other}; run npm run scores:build`,
    )
  }
}

test('has what tracing the reference gives', () => same(traceReference(), referenceCut))

const sample: Cut[] = isFull
  ? modelledShapes.flatMap((shape) => cutGrades.map((grade) => plain(shape, grade)))
  : [plain('Round', 'Excellent'), plain('Emerald', 'Very Good'), plain('Heart', 'Good')]
for (const cut of sample)
  test(`has what tracing a ${cut.grade} ${cut.shape} gives`, () =>
    same(traceCut(cut), tracedCuts[`${cut.shape}, ${cut.grade}`]))

const fineness = isFull ? 16 : 4
const half = isFull ? 'half' : 'less of'
for (const cut of isFull ? modelledShapes.map((shape) => plain(shape, 'Excellent')) : [plain('Princess', 'Good')])
  test(`moves by less than its error when a ${cut.shape} is sampled at ${half} the spacing`, () => {
    const none = { crown: 0, pavilion: 0 }
    const fine = traceCut(cut, fineness)
    const one = traceSolid(solidOf(facetModels.Round(roundProportions({}))), none, fineness)
    const kept = findTracedCut(cut)
    assert.ok(kept)
    const brilliance =
      relativePerformance(fine, cut.shape, one) / relativePerformance(kept, cut.shape, referenceCut) - 1
    assert.ok(Math.abs(brilliance) < errors.brilliance, `${brilliance}`)
    assert.ok(Math.abs(fine.fire / one.fire / (kept.fire / referenceCut.fire) - 1) < errors.fire)
  })

test.run()
