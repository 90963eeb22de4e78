import { grades, type CutGrade, type ModelledShape } from '../../src/domain/scoring/cut/cut.ts'
import type { LeanFigure } from '../../src/domain/scoring/cut/lean.ts'
import { roundToSixDecimals } from '../../src/domain/scoring/light/optics.ts'
import { startWorker } from '../../src/runtime/start-worker.ts'
import { WorkerPool } from '../../src/runtime/worker-pool.ts'
import { neverRising } from './never-rising.ts'
import type { Leaning, Leant } from './lean-worker.ts'
import { drawnCut } from './unpublished.ts'

export const leanFigures = ['brilliance', 'fire', 'faceup', 'avg'] as const satisfies readonly LeanFigure[]

/** Of each figure what is left, grade by grade. */
export type Left = Readonly<Record<LeanFigure, readonly number[]>>

/** Which stones are looked at: so many of each shape and grade, each with a way to lean of its own. */
export type Draw = { readonly from: number; readonly count: number }

/** The check takes others: scripts/scores-check/symmetry.ts. */
const STONES: Draw = { from: 0, count: 8 }

/**
 * Stones whose proportions lose little light: what others leak, leaning facets break up by chance, and a stone that is badly made in two ways
 * is not to gain from the second.
 */
const GRADES: readonly CutGrade[] = ['Ideal', 'Excellent']

/** What leaning facets leave of some shapes' figures: at most 1, and no more than at the better grade. */
export async function leanTableOf<Shape extends ModelledShape>(
  shapes: readonly Shape[],
  threads: number,
): Promise<Record<Shape, Left>> {
  return neverMore(shapes, await leanAverages(shapes, STONES, threads))
}

/** Averages as they are used: where one rises, it is taken together with the grades before it. */
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

/** What is left of each shape's figures in the mean, as it is found: it may rise. */
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
      // No two stones lean in the same way, and none as pictures do.
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
