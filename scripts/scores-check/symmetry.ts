import { availableParallelism } from 'node:os'
import { cutGrades, grades, modelledShapes, type Finish, type ModelledShape } from '../../src/domain/scoring/cut/cut.ts'
import { leanFactors, type LeanFigure } from '../../src/domain/scoring/cut/lean.ts'
import { referenceCut, scoreStone, findTracedCut } from '../../src/domain/scoring/score.ts'
import { leanAverages, leanFigures, neverMore } from '../scores-build/lean-factors.ts'
import { says, type Check } from './check.ts'
import { plain } from './designs.ts'

/** What may not rise, of a stone of one carat, as its answers show it. */
function shown(shape: ModelledShape, grade: (typeof cutGrades)[number], finish: Finish) {
  const stone = { shape, carat: 1, ...(grade !== 'Typical' && { cutGrade: grade }), ...finish }
  const { brilliance, fire, integral, spread, symmetry } = scoreStone(
    stone,
    findTracedCut({ ...plain(shape, grade), ...finish }) ?? referenceCut,
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

/** Of every shape and cut, all grades of symmetry and polish: one grade worse of either may raise nothing. */
export function symmetryChecks(): Check[] {
  return modelledShapes.map((shape) => {
    const rises = cutGrades.flatMap((grade) => steps.flatMap(([better, worse]) => risesOf(shape, grade, better, worse)))
    const [ideal, poor] = (['Ideal', 'Poor'] as const).map((symmetry) =>
      shown(shape, 'Excellent', { symmetry, polish: 'Ideal' }),
    )
    return says(
      `${shape}: ${cutGrades.length * steps.length} steps to a worse grade`,
      'raise no score',
      rises[0] ?? `none rises; brilliance of Excellent by symmetry ${ideal?.brilliance} to ${poor?.brilliance}`,
      rises.length === 0,
    )
  })
}

/** From each symmetry and polish to what is one grade worse in one of them. */
const steps: readonly (readonly [Finish, Finish])[] = grades.flatMap((better, index) => {
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
  const [before, after] = [shown(shape, grade, better), shown(shape, grade, worse)]
  const named = ({ symmetry, polish }: Finish) => `symmetry ${symmetry}, polish ${polish}`
  return (Object.keys(before) as (keyof typeof before)[])
    .filter((name) => !(after[name] <= before[name]))
    .map((name) => `${grade}: ${name} ${before[name]} to ${after[name]}, ${named(better)} to ${named(worse)}`)
}

/** None of them is among those that the factors were found by. */
const STONES = { from: 8, count: 4 }

/** What two samples of that many stones of a shape, which lean in other ways, may differ by in the mean of all shapes. */
const NEAR: Readonly<Record<LeanFigure, number>> = { brilliance: 0.04, fire: 0.02, faceup: 0.02, avg: 0.01 }

/** What leaning facets leave of other stones than those that the factors were found by. */
export async function leanChecks(): Promise<Check[]> {
  const averages = await leanAverages(modelledShapes, STONES, availableParallelism())
  const found = neverMore(modelledShapes, averages)
  const mean = (of: (shape: ModelledShape) => number | undefined) =>
    modelledShapes.reduce((sum, shape) => sum + (of(shape) ?? NaN), 0) / modelledShapes.length
  return leanFigures.flatMap((figure) =>
    grades.map((grade, index) => {
      const factor = (shape: ModelledShape) => leanFactors({ shape, symmetry: grade, polish: grade })[figure]
      const off = mean((shape) => Math.abs((found[shape][figure][index] ?? NaN) - factor(shape)))
      const asFound = mean((shape) => averages[shape][figure][index])
      return says(
        `${figure}, facets that lean as ${grade} allows`,
        `${mean(factor).toFixed(3)}, each ± ${NEAR[figure]}`,
        `± ${off.toFixed(3)} in the mean (${mean((shape) => found[shape][figure][index]).toFixed(3)}; rising too ${asFound.toFixed(3)})`,
        off <= NEAR[figure],
      )
    }),
  )
}
