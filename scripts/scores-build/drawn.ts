import {
  cutKey,
  modelledShapes,
  type Cut,
  type CutGrade,
  type CutMeasurements,
  type ModelledShape,
} from '../../src/domain/scoring/cut/cut.ts'
import {
  ImpossibleProportions,
  nominal,
  proportionsOf,
  type UnpublishedProportions,
} from '../../src/domain/scoring/cut/proportions.ts'
import type { TracedCut } from '../../src/domain/scoring/cut/trace-cut.ts'
import { knowledgeLevels, type KnowledgeLevel } from '../../src/domain/scoring/error-margins.ts'
import { weight } from '../../src/domain/scoring/light/optics.ts'
import { relativePerformance } from '../../src/domain/scoring/score-formulas.ts'
import { degrees } from '../../src/domain/scoring/solid/facet.ts'
import type { TracePool } from '../../src/scoring/trace-pool.ts'
import { plain } from '../scores-check/designs.ts'

/** How far a stone's own score is from the one of what is known of it, as a part of that; spread in points of pc. */
export type Off = Readonly<Record<Member, number>>
export const members = ['brilliance', 'fire', 'integral', 'spread'] as const
export type Member = (typeof members)[number]

/** What stands for each grade of a shape where nothing is published. */
export type Middles = Readonly<Record<CutGrade, UnpublishedProportions>>

/** A stone as far as it is known, and how far its own scores are from that. */
export type Drawn = { readonly known: Cut; readonly off: Off }

/**
 * Stones drawn evenly from a sequence without gaps, always the same ones, and how far they are from what is known of them. Impossible
 * ones (a crown and a pavilion that need more depth than there is) are passed over.
 * @param from the first of the shape's part of the sequence: other stones for the table than for its check
 */
export async function drawnStones(
  shape: ModelledShape,
  middles: Middles,
  { from, count }: { readonly from: number; readonly count: number },
  pool: TracePool,
): Promise<Record<KnowledgeLevel, Drawn[]>> {
  const found: Record<KnowledgeLevel, Drawn[]> = { shape: [], grade: [], depth: [], angles: [], all: [] }
  const reference = await pool.traceInWorker('reference')
  const traces = new Map<string, Promise<TracedCut | null>>()
  const one = async (index: number) => {
    const grade = GRADED[index % GRADED.length] ?? 'Very Good'
    const typical = stoneOf(shape, 'Typical', middles.Typical, WIDER, index)
    const graded = stoneOf(shape, grade, middles[grade], 1, index)
    for (const basis of knowledgeLevels) {
      const stone = basis === 'grade' ? graded : typical
      const own = await traced(stone)
      if (own === null) continue
      const known = { ...plain(stone.shape, stone.grade), ...reported(stone, basis) }
      const estimate = await traced(known)
      if (estimate !== null) found[basis].push({ known, off: offOf(shape, own, estimate, reference) })
    }
  }
  const first = OF_A_SHAPE * modelledShapes.indexOf(shape) + from
  await Promise.all(Array.from({ length: count }, (_, index) => one(first + index)))
  return found

  /** What is known of a stone is the same for many. */
  function traced(cut: Cut): Promise<TracedCut | null> {
    const key = cutKey(cut)
    const known = traces.get(key) ?? trace(cut)
    traces.set(key, known)
    return known
  }

  async function trace(cut: Cut): Promise<TracedCut | null> {
    try {
      return await pool.traceInWorker(cut)
    } catch (error) {
      if (error instanceof ImpossibleProportions) return null
      throw error
    }
  }
}

function offOf(shape: ModelledShape, own: TracedCut, estimate: TracedCut, reference: TracedCut): Off {
  const brilliance = relativePerformance(own, shape, reference) / relativePerformance(estimate, shape, reference)
  const fire = own.fire / estimate.fire
  return {
    brilliance: brilliance - 1,
    fire: fire - 1,
    integral: fire ** 0.2 * brilliance ** 0.8 - 1,
    spread: pcOf(own) - pcOf(estimate),
  }

  /** A carat's spread, before it is rounded. */
  function pcOf({ volume, faceUpArea }: TracedCut): number {
    const area = (cut: Pick<TracedCut, 'volume' | 'faceUpArea'>) => cut.faceUpArea / weight(cut.volume, 1) ** (2 / 3)
    return 100 * (1 - (area(reference) / area({ volume, faceUpArea })) ** 1.5)
  }
}

/** Each shape has so many numbers of the sequence to itself: what chance leaves of one is not that of the others. */
const OF_A_SHAPE = 128

/** The grades of which stones are drawn that are known by their grade alone. */
const GRADED: readonly CutGrade[] = ['Excellent', 'Very Good', 'Good']

/** Stones of any grade differ more than those of one. */
const WIDER = 1.5

/**
 * By how much stones of one grade differ. Rounds as those of the bundled data set do: nine of ten of a grade (the mean of Premium, Very Good and
 * Good) lie within 2.4 points of depth and 3.5 of table, which is nine tenths of these. Other shapes by half of the ranges of Excellent: pears 58 to 64 and 55 to
 * 62, princesses 62 to 73 and 57 to 72 (shalev.co.uk, mydiamondcuts.com); crown angles, stars and lower halves as where the stone that stands
 * for a grade is chosen; girdles from thin to slightly thick. Of briolettes nothing is published: their lengths vary by half as much again.
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

/** One stone about the middle of its grade. @param wide times the ranges of one grade */
function stoneOf(
  shape: ModelledShape,
  grade: CutGrade,
  [crownAngle, starPct, lowerPct]: UnpublishedProportions,
  wide: number,
  index: number,
): Cut {
  const [depthPct, tablePct, girdlePct] = nominal[shape].rows[grade]
  const { lengthToWidth } = nominal[shape]
  const ranges = halfRanges(shape)
  const at = (middle: number, name: keyof typeof ranges, dimension: number) =>
    middle + wide * ranges[name] * (2 * (((index + 1) * ROOT ** -dimension) % 1) - 1)
  const measured = {
    depthPct: at(depthPct, 'depthPct', 1),
    tablePct: at(tablePct, 'tablePct', 2),
    crownAngle: at(crownAngle, 'crownAngle', 3),
    girdlePct: Math.max(1, at(girdlePct, 'girdlePct', 4)),
    starPct: at(starPct, 'starPct', 5),
    lowerPct: at(lowerPct, 'lowerPct', 6),
    lengthToWidth: at(lengthToWidth, 'lengthToWidth', 7),
  }
  return { ...plain(shape, grade), measured }
}

/** Powers of the root of x^8 = x + 1, the additive recurrence of seven dimensions with the fewest gaps. */
const ROOT = 1.0969815577985598

/** What a report says of a stone, rounded as the GIA's reports are (Gems & Gemology, fall 2004). */
function reported(stone: Cut, basis: KnowledgeLevel): Pick<Cut, 'measured'> {
  if (basis === 'shape' || basis === 'grade') return {}
  const { lengthToWidth, table, crownHeight, pavilionDepth, girdle, star, lower } = proportionsOf(stone)
  const angle = (rise: number, run: number) => degrees(Math.atan(rise / run))
  const depth: CutMeasurements = {
    tablePct: to(1, 100 * table),
    depthPct: to(0.1, 100 * (crownHeight + girdle + pavilionDepth)),
    ...(stone.shape !== 'Round' && { lengthToWidth: to(0.01, lengthToWidth) }),
  }
  if (basis === 'depth') return { measured: depth }
  const angles: CutMeasurements = {
    ...depth,
    crownAngle: to(0.5, angle(crownHeight, (1 - table) / 2)),
    pavilionAngle: to(0.2, angle(pavilionDepth, 0.5)),
  }
  if (basis === 'angles') return { measured: angles }
  return {
    measured: {
      ...angles,
      girdlePct: to(0.5, 100 * girdle),
      starPct: to(5, 100 * star),
      lowerPct: to(5, 100 * lower),
    },
  }
}

const to = (step: number, value: number): number => Math.round(value / step) * step
