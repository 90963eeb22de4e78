import type { CutGrade } from '../../src/optics/cut/cut.ts'
import { weight } from '../../src/optics/light/diamond-material.ts'
import { spreadScore } from '../../src/optics/score-formulas.ts'
import type { CutTracer } from './tracers.ts'
import { defaultCut } from '../scores-check/designs.ts'
import { realStones, datasetGrades } from '../scores-check/stones.ts'

/**
 * How far the spread of each round in the bundled data set is from that of its grade's, or of the shape's, typical stone; in points of pc. Real
 * stones differ more than generated ones, since weight is hidden in proportions for which no ranges are published.
 */
export async function spreadDeviations(basis: 'shape' | 'grade', pool: CutTracer): Promise<number[]> {
  const reference = await pool.traceInWorker('reference')
  const spreadOf = async (grade: CutGrade) => {
    const cut = await pool.traceInWorker(defaultCut('Round', grade))
    return spreadScore(cut, reference, { carat: 1 }, 0).pc
  }
  const typical = await spreadOf('Typical')
  const graded = new Map(
    await Promise.all(datasetGrades.map(async ([word, grade]) => [word, await spreadOf(grade)] as const)),
  )
  return realStones().map(({ cut = '', carat, x, y }) => {
    const ownSpread = 100 * (1 - Number(carat) / weight(reference.volume, (Number(x) + Number(y)) / 2))
    return Math.abs(ownSpread - (basis === 'shape' ? typical : (graded.get(cut) ?? NaN)))
  })
}
