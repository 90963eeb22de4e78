import { grades, type CutGrade, type ModelledShape } from '../../src/domain/scoring/cut/cut.ts'
import type { LeanFigure } from '../../src/domain/scoring/cut/lean.ts'
import { roundToSixDecimals } from '../../src/domain/scoring/light/optics.ts'
import { startWorker } from '../../src/runtime/start-worker.ts'
import { WorkerPool } from '../../src/runtime/worker-pool.ts'
import { neverRising } from './never-rising.ts'
import type { Leaning, Leant } from './lean-worker.ts'
import { drawnCut } from './unpublished.ts'

export const leanFigures = ['brilliance', 'fire', 'faceup', 'avg'] as const satisfies readonly LeanFigure[]

/** For each figure, the factor by which tilted facets reduce it, by grade. */
export type Left = Readonly<Record<LeanFigure, readonly number[]>>

/** The stones to trace: `count` per shape and grade from index `from`, each with another tilt pattern. */
export type Draw = { readonly from: number; readonly count: number }

/** The check uses other stones: scripts/scores-check/symmetry.ts. */
const STONES: Draw = { from: 0, count: 8 }

/**
 * Grades whose proportions lose little light. Tilted facets may happen to break up a leak, and a stone with bad proportions must not gain
 * from bad symmetry.
 */
const GRADES: readonly CutGrade[] = ['Ideal', 'Excellent']

/** The factors for some shapes: at most 1, and never larger than at a better grade. */
export async function leanTableOf<Shape extends ModelledShape>(
  shapes: readonly Shape[],
  threads: number,
): Promise<Record<Shape, Left>> {
  return neverMore(shapes, await leanAverages(shapes, STONES, threads))
}

/** Makes averages monotonic: a factor that rises is averaged with those of the better grades. */
export function neverMore<Shape extends ModelledShape>(
  shapes: readonly Shape[],
  averages: Readonly<Record<Shape, Left>>,
): Record<Shape, Left> {
  const found = shapes.map((shape) => {
    const used = (figure: LeanFigure) =>
      neverRising([1, ...averages[shape][figure]])
        .slice(1)
        .map(roundToSixDecimals)
    return [shape, ofFigures(used)] as const
  })
  return Object.fromEntries(found) as Record<Shape, Left>
}

/** The averages before they are made monotonic. */
export async function leanAverages<Shape extends ModelledShape>(
  shapes: readonly Shape[],
  draw: Draw,
  threads: number,
): Promise<Record<Shape, Left>> {
  const pool = new WorkerPool<Leaning, Leant>(() => startWorker('./lean-worker', import.meta.url), threads)
  try {
    const found = await Promise.all(shapes.map(async (shape) => [shape, await averagesOf(shape, draw, pool)] as const))
    return Object.fromEntries(found) as Record<Shape, Left>
  } finally {
    await pool.close()
  }
}

async function averagesOf(
  shape: ModelledShape,
  { from, count }: Draw,
  pool: WorkerPool<Leaning, Leant>,
): Promise<Left> {
  const stones: Leaning[] = GRADES.flatMap((grade, index) =>
    Array.from({ length: count }, (_, place) => ({
      cut: drawnCut(shape, grade, from + place),
      // Each stone has another pattern, and none has that of pictures (0).
      pattern: 1 + GRADES.length * (from + place) + index,
    })),
  )
  const leant = (await Promise.all(stones.map((stone) => pool.run(stone)))).filter((one) => one !== null)
  return ofFigures((figure) => grades.map((_, grade) => geometricMean(leant.map((one) => one[grade]?.[figure] ?? NaN))))
}

function geometricMean(parts: readonly number[]): number {
  return Math.exp(parts.reduce((sum, part) => sum + Math.log(part), 0) / parts.length)
}

const ofFigures = (of: (figure: LeanFigure) => number[]): Left => ({
  brilliance: of('brilliance'),
  fire: of('fire'),
  faceup: of('faceup'),
  avg: of('avg'),
})
