import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { cutGrades, cutKey, modelledShapes, type Cut } from '../../src/optics/cut/cut.ts'
import { errorMarginsOf } from '../../src/optics/error-margins.ts'
import { relativePerformance } from '../../src/optics/score-formulas.ts'
import { quickTracing, traceCut, traceReference, type TracedCut } from '../../src/optics/cut/trace-cut.ts'
import { referenceCut, findTracedCut } from '../../src/optics/score.ts'
import table from '../../src/optics/traced-cuts.json' with { type: 'json' }
import { nominalCut } from './cuts.ts'

const test = suite('the table of traced cuts')

const errors = errorMarginsOf({ ownFacets: true })

const isFull = process.env['ADAMANT_FULL'] === '1'

/** Combinations of grade, table and depth in the bundled data set, without the table of 95 %, which no stone can have. */
const DATASET_CUTS = 3_709

test('contains each shape in each grade and in typical proportions, and the rounds of the data set', () => {
  assert.is(Object.keys(table.cuts).length, modelledShapes.length * cutGrades.length + DATASET_CUTS)
  for (const shape of modelledShapes)
    for (const grade of cutGrades) assert.ok(findTracedCut(nominalCut(shape, grade)), `${shape} ${grade}`)
})

test('has no entry for a cut whose culet, girdle or measurements differ from its grade', () => {
  const cut = nominalCut('Round', 'Good')
  const others: Cut[] = [
    { ...cut, culet: 'Large' },
    { ...cut, girdle: ['Thin', 'Medium'] },
    { ...cut, measured: { tablePct: 57 } },
  ]
  assert.ok(others.every((other) => findTracedCut(other) === undefined))
  assert.ok(findTracedCut({ ...cut, culet: 'None' }))
})

test('has the traced result of a cut with any polish and symmetry', () => {
  const cut: Cut = { ...nominalCut('Oval', 'Excellent'), polish: 'Fair', symmetry: 'Poor' }
  const [known, usual] = [findTracedCut(cut), findTracedCut(nominalCut('Oval', 'Excellent'))]
  assert.ok(known && usual && known.factors.brilliance < usual.factors.brilliance)
  assertSame(traceCut(cut), known)
})

function assertSame(traced: TracedCut, tabulated: TracedCut | undefined): void {
  const numbers = ({ factors, ...figures }: TracedCut) => Object.entries({ ...figures, ...factors })
  const others = new Map(tabulated && numbers(tabulated))
  for (const [name, value] of numbers(traced)) {
    const other = others.get(name)
    assert.ok(
      Math.abs((value ?? NaN) - (other ?? NaN)) <= 0.002,
      `${name}: ${value}, in the table ${other}; run npm run scores:build`,
    )
  }
}

test('equals the traced result of the reference', () => assertSame(traceReference(), referenceCut))

const sample: Cut[] = isFull
  ? modelledShapes.flatMap((shape) => cutGrades.map((grade) => nominalCut(shape, grade)))
  : [nominalCut('Round', 'Excellent'), nominalCut('Emerald', 'Very Good'), nominalCut('Heart', 'Good')]
const roundOfDataset: Cut = { ...nominalCut('Round', 'Very Good'), measured: { tablePct: 57, depthPct: 62.1 } }
for (const cut of [...sample, roundOfDataset])
  test(`equals the traced result of ${cutKey(cut)}`, () => assertSame(traceCut(cut), findTracedCut(cut)))

const fineness = isFull ? 16 : 4
for (const cut of isFull
  ? modelledShapes.map((shape) => nominalCut(shape, 'Excellent'))
  : [nominalCut('Princess', 'Good')])
  test(`differs by less than its error from a ${cut.shape} that is sampled ${isFull ? '16' : '4'} times as finely`, () => {
    const fine = traceCut(cut, { ...quickTracing, fineness })
    const one = traceReference({ ...quickTracing, fineness })
    const tabulated = findTracedCut(cut)
    assert.ok(tabulated)
    const brilliance =
      relativePerformance(fine, cut.shape, one) / relativePerformance(tabulated, cut.shape, referenceCut) - 1
    assert.ok(Math.abs(brilliance) < errors.brilliance, `${brilliance}`)
    assert.ok(Math.abs(fine.fire / one.fire / (tabulated.fire / referenceCut.fire) - 1) < errors.fire)
  })

test.run()
