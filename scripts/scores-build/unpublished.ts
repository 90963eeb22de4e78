import { cutGrades, grades, type Cut, type CutGrade, type Grade, type ModelledShape } from '../../src/optics/cut/cut.ts'
import {
  ImpossibleProportions,
  nominal,
  proportionsOf,
  type UnpublishedProportions,
} from '../../src/optics/cut/proportions.ts'
import { degrees } from '../../src/optics/solid/facet.ts'
import type { TracedCut } from '../../src/optics/cut/trace-cut.ts'
import { brillianceScore, fireScore, integralScore, spreadScore } from '../../src/optics/score-formulas.ts'
import { defaultCut } from '../scores-check/designs.ts'
import { giaGradeOf, type GiaGrade } from '../scores-check/gia-charts.ts'
import type { CutTracer } from './tracers.ts'

/** A candidate with a grade's published proportions, and its scores. */
export type TracedCandidate = {
  readonly proportions: UnpublishedProportions
  readonly integral: number
  readonly brilliance: number
  readonly pc: number
}

const CANDIDATES = 32

/** The fraction of a grade's candidates that score less than the chosen one: better cutters choose better proportions. */
const rankFractions: Readonly<Record<CutGrade, number>> = {
  Ideal: 0.9,
  Excellent: 0.8,
  'Very Good': 0.5,
  Good: 0.3,
  Fair: 0.15,
  Poor: 0.05,
  Typical: 0.5,
}

/**
 * Middles of the unpublished proportions: candidates have crown angles within 4 degrees, and stars and lower halves within 8 percent of
 * these. Rounds: the GIA's Excellent has stars of 45 to 65 and lower halves of 65 to 90. Old European cuts: crowns of at least 40°, lower
 * halves of at most 60. Briolettes: the crown angle is half of the point's angle, 39° if the facets at the point are at 51° to the belt
 * (profacet.com, "Briolette").
 */
const middles: Readonly<Record<ModelledShape, UnpublishedProportions>> = {
  Round: [34, 55, 77],
  Princess: [33, 50, 77],
  CushionBrilliant: [35, 50, 72],
  CushionModified: [35, 50, 72],
  Oval: [35, 50, 77],
  Marquise: [35, 50, 72],
  Pear: [35, 50, 77],
  Radiant: [36, 50, 77],
  Emerald: [34, 50, 77],
  Asscher: [34, 50, 77],
  Heart: [35, 50, 77],
  Baguette: [34, 50, 77],
  OldEuropean: [39, 45, 54],
  OldMine: [39, 45, 54],
  Trillion: [26, 50, 75],
  Rose: [28, 50, 77],
  Briolette: [39, 50, 77],
}
const HALF_RANGES: UnpublishedProportions = [4, 8, 8]

/** Rounds of lower grades have steeper crowns: with their depths, these are the ones that the GIA's charts give that grade. */
const roundCrowns: Readonly<Record<CutGrade, number>> = {
  Ideal: 34,
  Excellent: 34,
  'Very Good': 34,
  Good: 38,
  Fair: 36,
  Poor: 42,
  Typical: 34,
}

const middlesFor = (shape: ModelledShape, grade: CutGrade): UnpublishedProportions => {
  const [crown, star, lower] = middles[shape]
  return [shape === 'Round' ? roundCrowns[grade] : crown, star, lower]
}

/** The GIA charts' grade for the typical round of each grade; none for a round without a grade. */
const chartGrades: Readonly<Partial<Record<CutGrade, GiaGrade>>> = {
  Ideal: 'e',
  Excellent: 'e',
  'Very Good': 'v',
  Good: 'g',
  Fair: 'f',
  Poor: 'p',
}

/** Whether the GIA's charts give a round its grade; true for other shapes. @throws ImpossibleProportions */
function isOfGrade(cut: Cut): boolean {
  const wanted = cut.shape === 'Round' ? chartGrades[cut.grade] : undefined
  if (wanted === undefined) return true
  const { tablePct = NaN, crownAngle = NaN } = cut.measured ?? {}
  const { pavilionDepth } = proportionsOf(cut)
  const pavilion = degrees(Math.atan(2 * pavilionDepth))
  return giaGradeOf({ table: tablePct, crown: crownAngle, pavilion }) === wanted
}

/** Median spread by grade of rounds in the bundled data set, and the maximum distance of the chosen stone from it. */
const medians: Partial<Record<Grade, number>> = {
  Ideal: -2.25,
  Excellent: -2.87,
  'Very Good': -4.04,
  Good: -6.6,
  Fair: -11.99,
}
const MAX_MEDIAN_DISTANCE = 1.4

/** The candidates of each grade, lowest integral first. */
export type CandidatesByGrade = Readonly<Record<CutGrade, TracedCandidate[]>>

/** Chooses the unpublished proportions for each grade among candidates that share the published ones and are spread evenly in the others. */
export async function chooseUnpublished(
  shape: ModelledShape,
  pool: CutTracer,
): Promise<Record<CutGrade, UnpublishedProportions>> {
  return chooseCandidates(shape, await candidatesOf(shape, pool))
}

export async function candidatesOf(shape: ModelledShape, pool: CutTracer): Promise<CandidatesByGrade> {
  const reference = await pool.traceInWorker('reference')
  const found = await Promise.all(
    cutGrades.map(async (grade) => [grade, await traceCandidates(shape, grade, pool, reference)] as const),
  )
  return Object.fromEntries(found) as CandidatesByGrade
}

/**
 * Chooses the candidate at the grade's place in the order of integral. It must not exceed the better grade in integral, brilliance and spread,
 * and must leave a candidate for each lower grade that does not exceed it either. If the model cannot distinguish two grades, both score the
 * same. The typical stone scores no more than Excellent and no less than Poor.
 * @throws Error if no candidates satisfy this
 */
export function chooseCandidates(
  shape: ModelledShape,
  candidates: CandidatesByGrade,
): Record<CutGrade, UnpublishedProportions> {
  const chosen: Partial<Record<CutGrade, TracedCandidate>> = {}
  const feasible = feasibleCandidates(shape, candidates)
  let better: TracedCandidate | undefined
  for (const grade of grades) {
    const above = better
    const allowed = feasible[grade].filter((candidate) => above === undefined || isBelow(candidate, above))
    if (allowed.length === 0)
      throw new Error(`no ${shape} of the grade ${grade} scores at most as much as the better grade`)
    better = nearestToRank(candidates[grade], allowed, rankFractions[grade])
    chosen[grade] = better
  }
  const { Excellent: best, Poor: worst } = chosen
  const between = candidates.Typical.filter(
    ({ integral, brilliance }) =>
      best !== undefined &&
      worst !== undefined &&
      integral <= best.integral &&
      brilliance <= best.brilliance &&
      integral >= worst.integral,
  )
  if (between.length === 0) throw new Error(`no typical ${shape} scores between Poor and Excellent`)
  chosen.Typical = nearestToRank(candidates.Typical, between, rankFractions.Typical)
  return Object.fromEntries(Object.entries(chosen).map(([grade, { proportions }]) => [grade, proportions])) as Record<
    CutGrade,
    UnpublishedProportions
  >
}

/** For each grade the candidates for which an ordered choice exists in all lower grades. */
function feasibleCandidates(
  shape: ModelledShape,
  candidates: CandidatesByGrade,
): Record<Grade, readonly TracedCandidate[]> {
  const feasible = {} as Record<Grade, readonly TracedCandidate[]>
  let below: readonly TracedCandidate[] | undefined
  for (const grade of grades.toReversed()) {
    const worse = below
    const median = shape === 'Round' ? medians[grade] : undefined
    below = candidates[grade].filter(
      (candidate) =>
        (worse === undefined || worse.some((other) => isBelow(other, candidate))) &&
        (median === undefined || Math.abs(candidate.pc - median) <= MAX_MEDIAN_DISTANCE),
    )
    feasible[grade] = below
  }
  return feasible
}

const isBelow = (candidate: TracedCandidate, better: TracedCandidate): boolean =>
  candidate.integral <= better.integral && candidate.brilliance <= better.brilliance && candidate.pc < better.pc

/** The allowed candidate that is nearest to a place in the order of all. */
function nearestToRank(
  all: readonly TracedCandidate[],
  allowed: readonly TracedCandidate[],
  rankFraction: number,
): TracedCandidate {
  const rank = Math.floor(rankFraction * all.length)
  const [nearest] = [...allowed].sort((a, b) => Math.abs(all.indexOf(a) - rank) - Math.abs(all.indexOf(b) - rank))
  if (nearest === undefined) throw new Error('no candidate to choose from')
  return nearest
}

/** The possible candidates of a grade, lowest integral first. */
async function traceCandidates(
  shape: ModelledShape,
  grade: CutGrade,
  pool: CutTracer,
  reference: TracedCut,
): Promise<TracedCandidate[]> {
  const candidates = await Promise.all(
    Array.from({ length: CANDIDATES }, (_, index) => traceCandidate(shape, grade, index)),
  )
  return candidates.filter((candidate) => candidate !== undefined).sort((a, b) => a.integral - b.integral)

  async function traceCandidate(
    shape: ModelledShape,
    grade: CutGrade,
    index: number,
  ): Promise<TracedCandidate | undefined> {
    try {
      const design = candidateCut(shape, grade, index)
      if (!isOfGrade(design)) return undefined
      const cut = await pool.traceInWorker(design)
      const brilliance = brillianceScore(cut, shape, reference, 0)
      const integral = integralScore(fireScore(cut, reference, { carat: 1 }, 0), brilliance, 0)
      return {
        proportions: candidateProportions(index, middlesFor(shape, grade)),
        integral: integral.rg,
        brilliance: brilliance.rg,
        pc: spreadScore(cut, reference, { carat: 1 }, 0).pc,
      }
    } catch (error) {
      if (error instanceof ImpossibleProportions) return undefined
      throw error
    }
  }
}

/** The candidate with this index: published proportions of the grade, the others from the sequence. */
export function candidateCut(shape: ModelledShape, grade: CutGrade, index: number): Cut {
  const [depthPct, tablePct, girdlePct] = nominal[shape].rows[grade]
  const [crownAngle, starPct, lowerPct] = candidateProportions(index, middlesFor(shape, grade))
  return { ...defaultCut(shape, grade), measured: { depthPct, tablePct, girdlePct, crownAngle, starPct, lowerPct } }
}

/** Powers of the root of x^4 = x + 1: low-discrepancy additive recurrence in three dimensions. */
const ROOT = 1.2207440846057596

function candidateProportions(index: number, [crown, star, lower]: UnpublishedProportions): UnpublishedProportions {
  const spread = (middle: number, dimension: 0 | 1 | 2) => {
    const part = ((index + 1) * ROOT ** -(dimension + 1)) % 1
    return Math.round(2 * (middle + HALF_RANGES[dimension] * (2 * part - 1))) / 2
  }
  return [spread(crown, 0), spread(star, 1), spread(lower, 2)]
}
