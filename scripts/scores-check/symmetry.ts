import { availableParallelism } from 'node:os'
import { cutGrades, grades, modelledShapes, type Finish, type ModelledShape } from '../../src/optics/cut/cut.ts'
import { leanFactors, type LeanFigure } from '../../src/optics/cut/lean.ts'
import { referenceCut, scoreStone, findTracedCut } from '../../src/optics/score.ts'
import { leanAverages, leanFigures, makeMonotonic } from '../scores-build/lean-factors.ts'
import { makeCheck, type Check } from './check.ts'
import { defaultCut } from './designs.ts'

/** The scores of a one-carat stone that may not rise. */
function comparedScores(shape: ModelledShape, grade: (typeof cutGrades)[number], finish: Finish) {
  const stone = { shape, carat: 1, ...(grade !== 'Typical' && { cutGrade: grade }), ...finish }
  const { brilliance, fire, integral, spread, symmetry } = scoreStone(
    stone,
    findTracedCut({ ...defaultCut(shape, grade), ...finish }) ?? referenceCut,
  )
  return {
    brilliance: brilliance?.rg ?? NaN,
    faceup: brilliance?.faceup ?? NaN,
    avg: brilliance?.avg ?? NaN,
    fire: fire?.rg ?? NaN,
    'absolute fire': fire?.val ?? NaN,
    integral: integral?.rg ?? NaN,
    'absolute integral': integral?.val ?? NaN,
    spread: spread?.pc ?? NaN,
    symmetry: symmetry?.val ?? NaN,
  }
}

/** For every shape and cut grade, no score may rise when symmetry or polish is one grade worse. */
export function symmetryChecks(): Check[] {
  return modelledShapes.map((shape) => {
    const rises = cutGrades.flatMap((grade) =>
      gradeSteps.flatMap(([better, worse]) => risesOf(shape, grade, better, worse)),
    )
    const [ideal, poor] = (['Ideal', 'Poor'] as const).map((symmetry) =>
      comparedScores(shape, 'Excellent', { symmetry, polish: 'Ideal' }),
    )
    return makeCheck(
      `${shape}: ${cutGrades.length * gradeSteps.length} steps to a worse grade`,
      'no score rises',
      rises[0] ?? `none rises; brilliance of Excellent by symmetry ${ideal?.brilliance} to ${poor?.brilliance}`,
      rises.length === 0,
    )
  })
}

/** All pairs of finishes in which the second is one grade worse in symmetry or polish. */
const gradeSteps: readonly (readonly [Finish, Finish])[] = grades.flatMap((better, index) => {
  const worse = grades[index + 1]
  return worse === undefined
    ? []
    : grades.flatMap((other) => [
        [
          { symmetry: better, polish: other },
          { symmetry: worse, polish: other },
        ] as const,
        [
          { symmetry: other, polish: better },
          { symmetry: other, polish: worse },
        ] as const,
      ])
})

function risesOf(shape: ModelledShape, grade: (typeof cutGrades)[number], better: Finish, worse: Finish): string[] {
  const [before, after] = [comparedScores(shape, grade, better), comparedScores(shape, grade, worse)]
  const describe = ({ symmetry, polish }: Finish) => `symmetry ${symmetry}, polish ${polish}`
  return (Object.keys(before) as (keyof typeof before)[])
    .filter((name) => !(after[name] <= before[name]))
    .map((name) => `${grade}: ${name} ${before[name]} to ${after[name]}, ${describe(better)} to ${describe(worse)}`)
}

/** The factors were computed from other stones. */
const STONES = { from: 8, count: 4 }

/** Maximum mean difference, over all shapes, between two samples of this many stones with different tilt patterns. */
const TOLERANCES: Readonly<Record<LeanFigure, number>> = { brilliance: 0.04, fire: 0.02, faceup: 0.02, avg: 0.01 }

/** Compares the factors of tilted facets with those of other stones. */
export async function leanChecks(): Promise<Check[]> {
  const averages = await leanAverages(modelledShapes, STONES, availableParallelism())
  const monotonic = makeMonotonic(modelledShapes, averages)
  const mean = (of: (shape: ModelledShape) => number | undefined) =>
    modelledShapes.reduce((sum, shape) => sum + (of(shape) ?? NaN), 0) / modelledShapes.length
  return leanFigures.flatMap((figure) =>
    grades.map((grade, index) => {
      const factor = (shape: ModelledShape) => leanFactors({ shape, symmetry: grade, polish: grade })[figure]
      const deviation = mean((shape) => Math.abs((monotonic[shape][figure][index] ?? NaN) - factor(shape)))
      const unadjusted = mean((shape) => averages[shape][figure][index])
      return makeCheck(
        `${figure}, facets tilted as ${grade} allows`,
        `${mean(factor).toFixed(3)}, each ± ${TOLERANCES[figure]}`,
        `± ${deviation.toFixed(3)} on average (${mean((shape) => monotonic[shape][figure][index]).toFixed(3)}; not made monotonic ${unadjusted.toFixed(3)})`,
        deviation <= TOLERANCES[figure],
      )
    }),
  )
}
