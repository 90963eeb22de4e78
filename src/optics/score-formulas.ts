import { roundDecimals } from './rounding.ts'
import type { Scores } from './scores.ts'
import type { CutShape } from './cut/cut.ts'
import { excellentLimit, RANGE_OF_RMS } from './cut/perturbation.ts'
import type { FaceUpSize } from './cut/stone.ts'
import type { TracedCut } from './cut/trace-cut.ts'
import { compareFaces } from './light/face-up.ts'
import { weight, widthOf } from './light/diamond-material.ts'
import { OPTICS_VERSION as ver } from './version.ts'

/** A table size in percent of the width, and the frame of a typical stone with such a table. */
type TableLimit = readonly [table: number, frame: number]

/**
 * For each shape, the largest table published as its best (petragems.com, "Ideal diamond depth and table", 2019). Modified
 * cushions are treated like cushions, baguettes like emerald cuts. The trade wants trillions with 50 to 60 percent. Old cuts have
 * at most 53 (GIA, Describing Round Unmodified Brilliant Cut Diamonds, 2013). Roses and briolettes have no table. Other shapes are
 * treated like rounds.
 */
export const tableLimits: Readonly<Record<CutShape, TableLimit>> = {
  Round: [59, 0.69],
  Princess: [69, 0.52],
  CushionBrilliant: [68, 0.58],
  CushionModified: [68, 0.58],
  Oval: [64, 0.57],
  Marquise: [64, 0.57],
  Pear: [64, 0.58],
  Radiant: [70, 0.51],
  Emerald: [70, 0.45],
  Asscher: [70, 0.51],
  Heart: [64, 0.62],
  Baguette: [70, 0.41],
  OldEuropean: [53, 0.75],
  OldMine: [53, 0.75],
  Trillion: [60, 0.68],
  Rose: [0, 0],
  Briolette: [0, 0],
  Other: [59, 0.69],
}

/** The minimum fraction of the face that must be outside the table. A smaller frame lowers brilliance. */
export const requiredFrame = (shape: CutShape): number => tableLimits[shape][1]

/** The area of the outline in mm²: from the measured sides, else from the solid scaled to the stone's weight. */
function outlineArea(cut: TracedCut, { carat, face }: StoneSize): number {
  if (face !== undefined) return cut.faceUpArea * ((face.length * face.width) / (cut.length * cut.width))
  return cut.faceUpArea * widthOf(carat, cut.volume) ** 2
}

/** The weight in carats of a reference round with the same face-up area. */
const roundWeight = (cut: TracedCut, reference: TracedCut, stone: StoneSize): number =>
  weight(reference.volume, Math.sqrt(outlineArea(cut, stone) / reference.faceUpArea))

/** A stone's weight and its measured sides, if known. */
type StoneSize = { readonly carat: number; readonly face?: FaceUpSize }

export function spreadScore(
  cut: TracedCut,
  reference: TracedCut,
  stone: StoneSize,
  d: number,
): NonNullable<Scores['spread']> {
  const { carat } = stone
  const equivalentCarat = roundWeight(cut, reference, stone)
  return {
    ct: carats(equivalentCarat - carat),
    pc: roundDecimals((100 * (equivalentCarat - carat)) / equivalentCarat, 1),
    d,
    ver,
  }
}

/** Rounded like spread's ct, so that clients can recompute fire's val from it. */
const carats = (difference: number): number => roundDecimals(difference, 2)

/** The absolute error margin from a relative one; at least the rounding step of 0.01. */
const errorOf = (score: number, relativeMargin: number): number =>
  Math.max(0.01, roundDecimals(score * relativeMargin, 2))

/** Face-up performance relative to the reference round, including the loss by tilted facets. */
export const relativePerformance = (cut: TracedCut, shape: CutShape, reference: TracedCut): number =>
  compareFaces(cut, reference, requiredFrame(shape)) * cut.factors.brilliance

/** Independent of size, so val equals rg. @param relativeMargin relative error margin */
export function brillianceScore(
  cut: TracedCut,
  shape: CutShape,
  reference: TracedCut,
  relativeMargin: number,
): NonNullable<Scores['brilliance']> {
  const relative = roundDecimals(relativePerformance(cut, shape, reference), 2)
  return {
    val: relative,
    rg: relative,
    d: errorOf(relative, relativeMargin),
    faceup: roundDecimals((cut.brightness * cut.factors.faceup) / reference.brightness, 2),
    avg: roundDecimals((cut.weighted * cut.factors.avg) / reference.weighted, 2),
    ver,
  }
}

/** val grows with size: rg times the weight of the round with the same face-up area. @param relativeMargin relative error margin of rg */
export function fireScore(
  cut: TracedCut,
  reference: TracedCut,
  stone: StoneSize,
  relativeMargin: number,
): NonNullable<Scores['fire']> {
  const relative = roundDecimals((cut.fire * cut.factors.fire) / reference.fire, 2)
  const ct = carats(roundWeight(cut, reference, stone) - stone.carat)
  return {
    val: roundDecimals(relative * (stone.carat + ct), 2),
    rg: relative,
    d: errorOf(relative, relativeMargin),
    ver,
  }
}

/** @param relativeMargin relative error margin of rg */
export function integralScore(
  fire: NonNullable<Scores['fire']>,
  brilliance: NonNullable<Scores['brilliance']>,
  relativeMargin: number,
): NonNullable<Scores['integral']> {
  const combine = (member: 'val' | 'rg') => roundDecimals(fire[member] ** 0.2 * brilliance[member] ** 0.8, 2)
  const rg = combine('rg')
  return { val: combine('val'), rg, d: errorOf(rg, relativeMargin), ver }
}

/**
 * 10 for a flawless stone, 9 if the facet angles vary by the whole range allowed for Excellent, 0 at ten times that range.
 * Deviations are rms values and limits are total ranges, so deviations are multiplied by RANGE_OF_RMS. null if the nominal
 * symmetry is unknown.
 */
export function symmetryScore({ crownDeviation, pavilionDeviation }: TracedCut, d: number): Scores['symmetry'] {
  if (crownDeviation === null || pavilionDeviation === null) return null
  const scale = (rms: number, limit: number) => Math.max(0, 10 - (rms * RANGE_OF_RMS) / limit)
  const crown = roundDecimals(scale(crownDeviation, excellentLimit.crown), 2)
  const pav = roundDecimals(scale(pavilionDeviation, excellentLimit.pavilion), 2)
  return { val: roundDecimals((pav + crown) / 2, 2), pav, crown, d, ver }
}
