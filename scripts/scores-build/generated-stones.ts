import {
  cutKey,
  modelledShapes,
  type Cut,
  type CutGrade,
  type CutMeasurements,
  type ModelledShape,
} from '../../src/optics/cut/cut.ts'
import {
  ImpossibleProportions,
  nominal,
  proportionsOf,
  type UnpublishedProportions,
} from '../../src/optics/cut/proportions.ts'
import type { TracedCut } from '../../src/optics/cut/trace-cut.ts'
import { knowledgeLevels, type KnowledgeLevel } from '../../src/optics/error-margins.ts'
import { weight } from '../../src/optics/light/diamond-material.ts'
import { relativePerformance } from '../../src/optics/score-formulas.ts'
import { degrees } from '../../src/optics/solid/facet.ts'
import { defaultCut } from '../scores-check/designs.ts'
import type { CutTracer, Tracers } from './tracers.ts'

/** Relative differences of a stone's own scores from those estimated from what is known of it; spread in points of pc. */
export type Deviations = Readonly<Record<SampledScoreName, number>>
export const scoreNames = ['brilliance', 'fire', 'integral', 'spread'] as const
export type SampledScoreName = (typeof scoreNames)[number]

export type MiddleProportions = Readonly<Record<CutGrade, UnpublishedProportions>>

/** What is known of a stone, and how far its own scores are from the estimate. */
export type GeneratedStone = { readonly known: Cut; readonly deviations: Deviations }

/**
 * Compares stones from a low-discrepancy sequence with the estimates of their scores. Deterministic. Skips impossible stones, whose crown
 * and pavilion need more than the depth. A stone's own scores are traced in full, and their estimates as the service traces.
 * @param from the first index within the shape's part of the sequence: the table and its check use different stones
 */
export async function generateStones(
  shape: ModelledShape,
  middles: MiddleProportions,
  { from, count }: { readonly from: number; readonly count: number },
  tracers: Tracers,
): Promise<Record<KnowledgeLevel, GeneratedStone[]>> {
  const found: Record<KnowledgeLevel, GeneratedStone[]> = { shape: [], grade: [], depth: [], angles: [], all: [] }
  const trace = { full: tracing(tracers.full), quick: tracing(tracers.quick) }
  const references = {
    full: await tracers.full.traceInWorker('reference'),
    quick: await tracers.quick.traceInWorker('reference'),
  }
  const compare = async (index: number) => {
    const grade = SAMPLED_GRADES[index % SAMPLED_GRADES.length] ?? 'Very Good'
    const placeOf = (dimension: number) => ((index + 1) * ROOT ** -dimension) % 1
    const typical = generateStone(shape, 'Typical', middles.Typical, UNGRADED_RANGE, placeOf)
    const graded = generateStone(shape, grade, middles[grade], 1, placeOf)
    for (const basis of knowledgeLevels) {
      const stone = basis === 'grade' ? graded : typical
      const ownTrace = await trace.full(stone)
      if (ownTrace === null) continue
      const known = { ...defaultCut(stone.shape, stone.grade), ...asReported(stone, basis) }
      const estimate = await trace.quick(known)
      if (estimate !== null)
        found[basis].push({ known, deviations: deviationsOf(shape, ownTrace, estimate, references) })
    }
  }
  const first = INDICES_PER_SHAPE * modelledShapes.indexOf(shape) + from
  await Promise.all(Array.from({ length: count }, (_, index) => compare(first + index)))
  return found
}

/** Traces each cut once, since many stones share the same known properties; null if no stone has the proportions. */
function tracing(tracer: CutTracer): (cut: Cut) => Promise<TracedCut | null> {
  const traces = new Map<string, Promise<TracedCut | null>>()
  return (cut) => {
    const key = cutKey(cut)
    const known = traces.get(key) ?? traceOrNull(tracer, cut)
    traces.set(key, known)
    return known
  }
}

async function traceOrNull(tracer: CutTracer, cut: Cut): Promise<TracedCut | null> {
  try {
    return await tracer.traceInWorker(cut)
  } catch (error) {
    if (error instanceof ImpossibleProportions) return null
    throw error
  }
}

function deviationsOf(
  shape: ModelledShape,
  ownTrace: TracedCut,
  estimate: TracedCut,
  { full, quick }: Readonly<Record<'full' | 'quick', TracedCut>>,
): Deviations {
  const brilliance = relativePerformance(ownTrace, shape, full) / relativePerformance(estimate, shape, quick)
  const fire = ownTrace.fire / full.fire / (estimate.fire / quick.fire)
  return {
    brilliance: brilliance - 1,
    fire: fire - 1,
    integral: fire ** 0.2 * brilliance ** 0.8 - 1,
    spread: spreadOf(ownTrace) - spreadOf(estimate),
  }

  /** The spread of one carat, not rounded. */
  function spreadOf({ volume, faceUpArea }: TracedCut): number {
    const area = (cut: Pick<TracedCut, 'volume' | 'faceUpArea'>) => cut.faceUpArea / weight(cut.volume, 1) ** (2 / 3)
    return 100 * (1 - (area(full) / area({ volume, faceUpArea })) ** 1.5)
  }
}

/** Number of indices of the sequence per shape, so that random errors of different shapes are independent. */
const INDICES_PER_SHAPE = 128

const SAMPLED_GRADES: readonly CutGrade[] = ['Excellent', 'Very Good', 'Good']

/** Stones of any grade vary more than those of one grade. */
export const UNGRADED_RANGE = 1.5

/**
 * How much stones of one grade vary. Rounds as in the bundled data set: nine of ten stones of a grade (mean of Premium, Very Good and
 * Good) are within 2.4 points of depth and 3.5 of table, which is nine tenths of these ranges. Other shapes by half of the ranges of
 * Excellent: pears 58 to 64 and 55 to 62, princesses 62 to 73 and 57 to 72 (shalev.co.uk, mydiamondcuts.com); crown angles, stars and lower
 * halves as in unpublished.ts; girdles from thin to slightly thick. Nothing is published about briolettes: their length varies half as much again.
 */
const halfRanges = (shape: ModelledShape) => ({
  depthPct: shape === 'Round' ? 2.7 : shape === 'Princess' ? 5.5 : 3,
  tablePct: shape === 'Round' ? 3.9 : shape === 'Princess' ? 7.5 : 3.5,
  crownAngle: 2.5,
  girdlePct: 1.2,
  starPct: 8,
  lowerPct: 8,
  lengthToWidth: shape === 'Round' ? 0 : shape === 'Briolette' ? 0.13 : 0.08,
})

/**
 * A stone around the middle of its grade.
 * @param rangeFactor multiple of the ranges of one grade
 * @param placeOf the place within the range of each of the seven dimensions, from 0 to 1
 */
export function generateStone(
  shape: ModelledShape,
  grade: CutGrade,
  [crownAngle, starPct, lowerPct]: UnpublishedProportions,
  rangeFactor: number,
  placeOf: (dimension: number) => number,
): Cut {
  const [depthPct, tablePct, girdlePct] = nominal[shape].rows[grade]
  const { lengthToWidth } = nominal[shape]
  const ranges = halfRanges(shape)
  const at = (middle: number, name: keyof typeof ranges, dimension: number) =>
    middle + rangeFactor * ranges[name] * (2 * placeOf(dimension) - 1)
  const measured = {
    depthPct: at(depthPct, 'depthPct', 1),
    tablePct: at(tablePct, 'tablePct', 2),
    crownAngle: at(crownAngle, 'crownAngle', 3),
    girdlePct: Math.max(1, at(girdlePct, 'girdlePct', 4)),
    starPct: at(starPct, 'starPct', 5),
    lowerPct: at(lowerPct, 'lowerPct', 6),
    lengthToWidth: at(lengthToWidth, 'lengthToWidth', 7),
  }
  return { ...defaultCut(shape, grade), measured }
}

/** Powers of the root of x^8 = x + 1: low-discrepancy additive recurrence in seven dimensions. */
const ROOT = 1.0969815577985598

/** A report on a stone, rounded like the GIA's reports (Gems & Gemology, fall 2004). */
function asReported(stone: Cut, basis: KnowledgeLevel): Pick<Cut, 'measured'> {
  if (basis === 'shape' || basis === 'grade') return {}
  const { lengthToWidth, table, crownHeight, pavilionDepth, girdle, star, lower } = proportionsOf(stone)
  const angle = (rise: number, run: number) => degrees(Math.atan(rise / run))
  const depth: CutMeasurements = {
    tablePct: roundTo(1, 100 * table),
    depthPct: roundTo(0.1, 100 * (crownHeight + girdle + pavilionDepth)),
    ...(stone.shape !== 'Round' && { lengthToWidth: roundTo(0.01, lengthToWidth) }),
  }
  if (basis === 'depth') return { measured: depth }
  const angles: CutMeasurements = {
    ...depth,
    crownAngle: roundTo(0.5, angle(crownHeight, (1 - table) / 2)),
    pavilionAngle: roundTo(0.2, angle(pavilionDepth, 0.5)),
  }
  if (basis === 'angles') return { measured: angles }
  return {
    measured: {
      ...angles,
      girdlePct: roundTo(0.5, 100 * girdle),
      starPct: roundTo(5, 100 * star),
      lowerPct: roundTo(5, 100 * lower),
    },
  }
}

const roundTo = (step: number, value: number): number => Math.round(value / step) * step
