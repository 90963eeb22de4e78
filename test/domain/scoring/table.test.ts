import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { grades, modelledShapes, type Cut } from '../../../src/domain/scoring/cut/cut.ts'
import { facetModels } from '../../../src/domain/scoring/cut/facets.ts'
import { performance } from '../../../src/domain/scoring/light/face-up.ts'
import { errorsOf } from '../../../src/domain/scoring/errors.ts'
import { roundProportions } from '../../../src/domain/scoring/cut/round-proportions.ts'
import { tabled } from '../../../src/domain/scoring/score.ts'
import { solidOf } from '../../../src/domain/scoring/solid/solid.ts'
import { reference, table } from '../../../src/domain/scoring/table.ts'
import {
  solidOfCut,
  traceCut,
  traceReference,
  traceSolid,
  type TracedCut,
} from '../../../src/domain/scoring/cut/trace-cut.ts'
import { plain } from './cuts.ts'

const test = suite('the table of traced cuts')

const errors = errorsOf({ ownFacets: true })

const isFull = process.env['ADAMANT_FULL'] === '1'

test('has every shape in every grade', () => {
  assert.is(Object.keys(table).length, modelledShapes.length * grades.length)
  for (const shape of modelledShapes)
    for (const grade of grades) assert.ok(tabled(plain(shape, grade)), `${shape} ${grade}`)
})

test('knows no cut whose culet, girdle, finish or measures differ from its grade', () => {
  const cut = plain('Round', 'Good')
  const others: Cut[] = [
    { ...cut, culet: 'Large' },
    { ...cut, girdle: ['Thin', 'Medium'] },
    { ...cut, polish: 'Fair' },
    { ...cut, measured: { tablePct: 57 } },
  ]
  assert.ok(others.every((other) => tabled(other) === undefined))
  assert.ok(tabled({ ...cut, culet: 'None' }))
})

function same(traced: TracedCut, kept: TracedCut | undefined): void {
  for (const [name, value] of Object.entries(traced)) {
    const other = Object.entries(kept ?? {}).find(([key]) => key === name)?.[1] ?? NaN
    assert.ok(
      Math.abs((value ?? NaN) - (other ?? NaN)) <= 0.002,
      `${name}: ${value}, in the table ${other}; run npm run scores:build`,
    )
  }
}

test('has what tracing the reference gives', () => same(traceReference(), reference))

const sample: Cut[] = isFull
  ? modelledShapes.flatMap((shape) => grades.map((grade) => plain(shape, grade)))
  : [plain('Round', 'Excellent'), plain('Emerald', 'Very Good'), plain('Heart', 'Good')]
for (const cut of sample)
  test(`has what tracing a ${cut.grade} ${cut.shape} gives`, () =>
    same(traceCut(cut), table[`${cut.shape}, ${cut.grade}`]))

const fineness = isFull ? 16 : 4
const half = isFull ? 'half' : 'less of'
for (const cut of isFull ? modelledShapes.map((shape) => plain(shape, 'Excellent')) : [plain('Princess', 'Good')])
  test(`moves by less than its error when a ${cut.shape} is sampled at ${half} the spacing`, () => {
    const { solid, deviation } = solidOfCut(cut)
    const none = { crown: 0, pavilion: 0 }
    const fine = traceSolid(solid, deviation, fineness)
    const one = traceSolid(solidOf(facetModels.Round(roundProportions({}))), none, fineness)
    const kept = tabled(cut)
    assert.ok(kept)
    const brilliance = performance(kept) / performance(reference)
    assert.ok(Math.abs(brilliance - performance(fine) / performance(one)) < errors.brilliance)
    assert.ok(Math.abs(kept.fire / reference.fire - fine.fire / one.fire) < errors.fire)
  })

test.run()
