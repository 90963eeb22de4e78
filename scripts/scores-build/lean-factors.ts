import { grades, type CutGrade, type ModelledShape } from '../../src/optics/cut/cut.ts'
import type { LeanFigure } from '../../src/optics/cut/lean.ts'
import { roundToSixDecimals } from '../../src/optics/rounding.ts'
import { startWorker } from '../../src/runtime/start-worker.ts'
import { WorkerPool } from '../../src/runtime/worker-pool.ts'
import { nonIncreasing } from './non-increasing.ts'
import type { LeanTask, LeanResult } from './lean-worker.ts'
import { candidateCut } from './unpublished.ts'

export const leanFigures = ['brilliance', 'fire', 'faceup', 'avg'] as const satisfies readonly LeanFigure[]

/** For each figure, the factor by which tilted facets reduce it, by grade. */
export type FactorsByGrade = Readonly<Record<LeanFigure, readonly number[]>>

/** The stones to trace: `count` per shape and grade from index `from`, each with another tilt pattern. */
export type StoneRange = { readonly from: number; readonly count: number }

/** The check uses other stones: scripts/scores-check/symmetry.ts. */
const STONES: StoneRange = { from: 0, count: 8 }

/**
 * Grades whose proportions lose little light. Tilted facets may happen to break up a leak, and a stone with bad proportions must not gain
 * from bad symmetry.
 */
const SOURCE_GRADES: readonly CutGrade[] = ['Ideal', 'Excellent']

/** The factors for some shapes: at most 1, and never larger than at a better grade. */
export async function leanTableOf<Shape extends ModelledShape>(
  shapes: readonly Shape[],
  threads: number,
): Promise<Record<Shape, FactorsByGrade>> {
  return makeMonotonic(shapes, await leanAverages(shapes, STONES, threads))
}

/** Makes averages monotonic: a factor that rises is averaged with those of the better grades. */
export function makeMonotonic<Shape extends ModelledShape>(
  shapes: readonly Shape[],
  averages: Readonly<Record<Shape, FactorsByGrade>>,
): Record<Shape, FactorsByGrade> {
  const found = shapes.map((shape) => {
    const factors = (figure: LeanFigure) =>
      nonIncreasing([1, ...averages[shape][figure]])
        .slice(1)
        .map(roundToSixDecimals)
    return [shape, mapFigures(factors)] as const
  })
  return Object.fromEntries(found) as Record<Shape, FactorsByGrade>
}

/** The averages before they are made monotonic. */
export async function leanAverages<Shape extends ModelledShape>(
  shapes: readonly Shape[],
  draw: StoneRange,
  threads: number,
): Promise<Record<Shape, FactorsByGrade>> {
  const pool = new WorkerPool<LeanTask, LeanResult>(() => startWorker('./lean-worker', import.meta.url), threads)
  try {
    const found = await Promise.all(shapes.map(async (shape) => [shape, await averagesOf(shape, draw, pool)] as const))
    return Object.fromEntries(found) as Record<Shape, FactorsByGrade>
  } finally {
    await pool.close()
  }
}

async function averagesOf(
  shape: ModelledShape,
  { from, count }: StoneRange,
  pool: WorkerPool<LeanTask, LeanResult>,
): Promise<FactorsByGrade> {
  const stones: LeanTask[] = SOURCE_GRADES.flatMap((grade, index) =>
    Array.from({ length: count }, (_, offset) => ({
      cut: candidateCut(shape, grade, from + offset),
      // Each stone has another pattern, and none has that of pictures (0).
      pattern: 1 + SOURCE_GRADES.length * (from + offset) + index,
    })),
  )
  const results = (await Promise.all(stones.map((stone) => pool.run(stone)))).filter((one) => one !== null)
  return mapFigures((figure) =>
    grades.map((_, grade) => geometricMean(results.map((one) => one[grade]?.[figure] ?? NaN))),
  )
}

function geometricMean(parts: readonly number[]): number {
  return Math.exp(parts.reduce((sum, part) => sum + Math.log(part), 0) / parts.length)
}

const mapFigures = (of: (figure: LeanFigure) => number[]): FactorsByGrade => ({
  brilliance: of('brilliance'),
  fire: of('fire'),
  faceup: of('faceup'),
  avg: of('avg'),
})
