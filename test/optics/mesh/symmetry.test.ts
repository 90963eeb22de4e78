import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { grades, type ModelledShape } from '../../../src/optics/cut/cut.ts'
import { facetModels } from '../../../src/optics/cut/facets.ts'
import { perturbSolid } from '../../../src/optics/cut/perturbation.ts'
import { proportionsOf } from '../../../src/optics/cut/proportions.ts'
import { measuredDeviation, type SymmetryFold } from '../../../src/optics/mesh/symmetry.ts'
import { solidOf } from '../../../src/optics/solid/solid.ts'
import { isClose, nominalCut, rotatedBy } from '../cuts.ts'

const test = suite('the deviation from symmetry')

const folds: readonly (readonly [ModelledShape, SymmetryFold])[] = [
  ['Round', 8],
  ['Princess', 2],
  ['CushionBrilliant', 2],
  ['CushionModified', 2],
  ['Oval', 2],
  ['Marquise', 2],
  ['Pear', 1],
  ['Radiant', 2],
  ['Emerald', 2],
  ['Asscher', 2],
  ['Baguette', 2],
  ['OldEuropean', 8],
  ['OldMine', 2],
  ['Trillion', 1],
  ['Rose', 2],
]
/** Typical proportions: in a flatter princess, a tilt can remove a narrow corner facet completely. */
const ideal = (shape: ModelledShape) => solidOf(facetModels[shape](proportionsOf(nominalCut(shape, 'Typical'))))

/**
 * A baguette's crown has only twelve facets, too few for their measured deviation to match the drawn one. In the worst grade,
 * half facets of a trillion are tilted so far that another facet is nearer to where their mirror image should be.
 */
const isCompared = (shape: ModelledShape) => shape !== 'Baguette' && shape !== 'Trillion'

for (const [shape, fold] of folds) {
  test(`is zero for an ideal ${shape}, at any rotation about its axis`, () => {
    for (const angle of [0, 0.1234, 1, 2.5]) {
      const { crown, pavilion } = measuredDeviation(rotatedBy(ideal(shape), angle), fold)
      assert.ok(crown < 1e-3 && pavilion < 1e-3, `${crown} and ${pavilion} at ${angle}`)
    }
  })

  if (!isCompared(shape)) continue
  test(`of a ${shape} grows with each worse grade of symmetry, and is close to the tilt of its facets`, () => {
    const stones = grades.map((grade) => perturbSolid(ideal(shape), grade, 'Ideal'))
    const found = stones.map(({ solid }) => measuredDeviation(solid, fold))
    for (const part of ['crown', 'pavilion'] as const)
      for (const [index, { deviation }] of stones.entries()) {
        const [got, before] = [found[index]?.[part] ?? 0, found[index - 1]?.[part] ?? 0]
        assert.ok(got > before, `${part}, ${grades[index]}: ${got} after ${before}`)
        assert.ok(
          isClose(got / deviation[part], 1, 0.35),
          `${part}, ${grades[index]}: ${got}, tilted by ${deviation[part]}`,
        )
      }
  })
}

test('of a square stone is zero for 4-fold symmetry, and of an oval is large for 8-fold symmetry', () => {
  const square = solidOf(facetModels.Asscher({ ...proportionsOf(nominalCut('Asscher', 'Ideal')), lengthToWidth: 1 }))
  assert.ok(measuredDeviation(square, 4).pavilion < 1e-3)
  assert.ok(measuredDeviation(ideal('Oval'), 8).pavilion > 1)
})

test('of a crown with only a table is zero', () => {
  const corner = (name: string, x: number, y: number) =>
    ({ part: 'pavilion', name, normal: [0.6 * x, 0.6 * y, -Math.sqrt(0.28)], offset: 0.4 }) as const
  const solid = solidOf([
    { part: 'crown', name: 'table', normal: [0, 0, 1], offset: 0.1 },
    corner('a', 1, 1),
    corner('b', -1, 1),
    corner('c', 1, -1),
    corner('d', -1, -1),
  ])
  assert.is(measuredDeviation(solid, 4).crown, 0)
})

test.run()
