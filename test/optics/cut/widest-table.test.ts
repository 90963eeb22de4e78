import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { modelledShapes } from '../../../src/optics/cut/cut.ts'
import { facetModels } from '../../../src/optics/cut/facets.ts'
import { proportionsOf } from '../../../src/optics/cut/proportions.ts'
import { requiredFrame, tableLimits } from '../../../src/optics/score-formulas.ts'
import { solidOf } from '../../../src/optics/solid/solid.ts'
import { isClose, nominalCut } from '../cuts.ts'

const test = suite('the largest allowed table')

/** The share of a typical stone's face that a table of this size does not cover. */
function frameShare(shape: (typeof modelledShapes)[number], tablePct: number): number {
  const typical = proportionsOf(nominalCut(shape, 'Typical'))
  const { faces, halves, faceUpArea } = solidOf(facetModels[shape]({ ...typical, table: tablePct / 100 }))
  const table = faces.find(({ facet }) => facet.name === 'table')
  return 1 - (halves * (table?.area ?? NaN)) / faceUpArea
}

for (const shape of modelledShapes.filter((shape) => shape !== 'Rose' && shape !== 'Briolette'))
  test(`of a ${shape} leaves the frame that follows from the largest published one`, () => {
    const [published, framed] = tableLimits[shape]
    assert.ok(isClose(framed, frameShare(shape, published), 0.01), `${frameShare(shape, published)}`)
  })

for (const shape of ['Rose', 'Briolette'] as const)
  test(`does not exist for a ${shape}, which has no table`, () => {
    const { facets } = solidOf(facetModels[shape](proportionsOf(nominalCut(shape, 'Typical'))))
    assert.not.ok(facets.some(({ name }) => name === 'table'))
    assert.is(requiredFrame(shape), 0)
  })

test("of an unknown shape is a round's, 59 percent", () => {
  assert.is(requiredFrame('Other'), requiredFrame('Round'))
  assert.is(tableLimits.Round[0], 59)
})

test.run()
