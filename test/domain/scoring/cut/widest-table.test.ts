import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { modelledShapes } from '../../../../src/domain/scoring/cut/cut.ts'
import { facetModels } from '../../../../src/domain/scoring/cut/facets.ts'
import { proportionsOf } from '../../../../src/domain/scoring/cut/proportions.ts'
import { requiredFrame, tableLimits } from '../../../../src/domain/scoring/score-formulas.ts'
import { solidOf } from '../../../../src/domain/scoring/solid/solid.ts'
import { close, plain } from '../cuts.ts'

const test = suite('how large a table may be')

/** The part of a typical stone's face that a table of that size leaves. */
function besideTable(shape: (typeof modelledShapes)[number], tablePct: number): number {
  const typical = proportionsOf(plain(shape, 'Typical'))
  const { faces, halves, faceUpArea } = solidOf(facetModels[shape]({ ...typical, table: tablePct / 100 }))
  const table = faces.find(({ facet }) => facet.name === 'table')
  return 1 - (halves * (table?.area ?? NaN)) / faceUpArea
}

for (const shape of modelledShapes.filter((shape) => shape !== 'Rose' && shape !== 'Briolette'))
  test(`of a ${shape} is what the largest published one leaves of its face, by its own geometry`, () => {
    const [published, framed] = tableLimits[shape]
    assert.ok(close(framed, besideTable(shape, published), 0.01), `${besideTable(shape, published)}`)
  })

for (const shape of ['Rose', 'Briolette'] as const)
  test(`is nothing for a ${shape}, which has none`, () => {
    const { facets } = solidOf(facetModels[shape](proportionsOf(plain(shape, 'Typical'))))
    assert.not.ok(facets.some(({ name }) => name === 'table'))
    assert.is(requiredFrame(shape), 0)
  })

test("of a shape that nobody knows is a round's, 59 percent", () => {
  assert.is(requiredFrame('Other'), requiredFrame('Round'))
  assert.is(tableLimits.Round[0], 59)
})

test.run()
