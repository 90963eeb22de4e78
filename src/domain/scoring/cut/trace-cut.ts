import { measureFaceUp, type FaceUpMetrics } from '../light/face-up.ts'
import { weightedLightReturn, type SamplingOptions } from '../light/light-return.ts'
import { roundToSixDecimals, lines, refractiveIndex } from '../light/optics.ts'
import { crownTargetOf } from '../light/view.ts'
import { solidOf, type Solid } from '../solid/solid.ts'
import { radians } from '../solid/facet.ts'
import type { Cut } from './cut.ts'
import { facetModels } from './facets.ts'
import { noLeanLoss, leanFactors, type LeanFactors } from './lean.ts'
import { modelledDeviation, perturbSolid, type Deviation } from './perturbation.ts'
import { proportionsOf, type Proportions } from './proportions.ts'

/** A round brilliant as reports and tables describe it: percent of the diameter, angles in degrees. */
export type RoundMeasures = {
  readonly table: number
  readonly crown: number
  readonly pavilion: number
  readonly star: number
  readonly lower: number
  readonly girdle: number
  readonly culet: number
}

/** 1.00 ct of this round brilliant scores 1. It weighs 3.67 thousandths of its diameter cubed (ct, mm). */
const referenceMeasures: RoundMeasures = {
  table: 56,
  crown: 34,
  pavilion: 40.5,
  star: 50,
  lower: 75,
  girdle: 3,
  culet: 0.5,
}

/** The proportions of a round brilliant that is like the reference but for the measures given. */
export function roundProportions(measures: Partial<RoundMeasures>): Proportions {
  const { table, crown, pavilion, star, lower, girdle, culet } = { ...referenceMeasures, ...measures }
  return {
    lengthToWidth: 1,
    table: table / 100,
    crownHeight: ((1 - table / 100) / 2) * Math.tan(radians(crown)),
    pavilionDepth: Math.tan(radians(pavilion)) / 2,
    girdle: girdle / 100,
    star: star / 100,
    lower: lower / 100,
    culet: culet / 100,
  }
}

/** All that the scores of any stone of a cut need. Lengths in widths of the stone, light as parts of what falls on the crown. */
export type TracedCut = FaceUpMetrics & {
  readonly volume: number
  readonly faceUpArea: number
  readonly length: number
  readonly width: number
  readonly depth: number
  /** Light return weighted by the squared cosine of the exit angle. */
  readonly weighted: number
  /** Rms of the facets' lean, degrees; null where nobody knows how they should stand. */
  readonly crownDeviation: number | null
  readonly pavilionDeviation: number | null
  /** What facets that lean, and were traced as if they did not, leave of the figures above. */
  readonly factors: LeanFactors
}

/** Index for the D line and the difference between the F and C lines. */
export const diamondOptics = {
  index: refractiveIndex(lines.D),
  dispersion: refractiveIndex(lines.F) - refractiveIndex(lines.C),
} as const

/** Rays over the whole sky. With them a repeat with 16 times as many changes no score by its d. */
const SAMPLES = 8_192
const CUT_OFF = 1e-3

/** The stone whose scores are 1. */
export const referenceSolid = (): Solid => solidOf(facetModels.Round(roundProportions({})))

/**
 * The stone of a cut as pictures show it: nominal or measured proportions, facets tilted as polish and symmetry allow.
 * @throws ImpossibleProportions
 */
export const solidOfCut = (cut: Cut): { solid: Solid; deviation: Deviation } =>
  perturbSolid(idealSolidOfCut(cut), cut.symmetry, cut.polish)

/** The stone of a cut's proportions, every facet where it should be. @throws ImpossibleProportions */
export const idealSolidOfCut = (cut: Cut): Solid => solidOf(facetModels[cut.shape](proportionsOf(cut)))

/**
 * Traces a cut: some tenths of a second. The same cut gives the same numbers. Light goes through the well-made stone, whatever polish and
 * symmetry: of all ways to lean that they allow, one would by chance break up what the stone leaks, or not. What they cost is in `factors`.
 * @param fineness times the usual number of rays
 * @throws ImpossibleProportions
 */
export function traceCut(cut: Cut, fineness = 1): TracedCut {
  const solid = idealSolidOfCut(cut)
  return { ...traceSolid(solid, modelledDeviation(solid, cut.symmetry), fineness), factors: leanFactors(cut) }
}

export const traceReference = (): TracedCut => traceSolid(referenceSolid(), { crown: 0, pavilion: 0 }, 1)

/** Traces a stone by the facets that it has. @param fineness times the usual number of rays */
export function traceSolid(solid: Solid, deviation: Deviation | null, fineness: number): TracedCut {
  const { index, dispersion } = diamondOptics
  const beam: SamplingOptions = { samples: SAMPLES * fineness, index, cutOff: CUT_OFF }
  const face = measureFaceUp(solid, index, dispersion, fineness)
  return {
    ...extentOf(solid),
    weighted: roundToSixDecimals(weightedLightReturn(crownTargetOf(solid), beam)),
    brightness: roundToSixDecimals(face.brightness),
    contrast: roundToSixDecimals(face.contrast),
    variety: roundToSixDecimals(face.variety),
    lit: roundToSixDecimals(face.lit),
    evenness: roundToSixDecimals(face.evenness),
    frame: roundToSixDecimals(face.frame),
    tableFire: roundToSixDecimals(face.tableFire),
    tableLeak: roundToSixDecimals(face.tableLeak),
    fire: roundToSixDecimals(face.fire),
    crownDeviation: deviation && roundToSixDecimals(deviation.crown),
    pavilionDeviation: deviation && roundToSixDecimals(deviation.pavilion),
    factors: noLeanLoss,
  }
}

const extentOf = ({ volume, faceUpArea, length, width, depth }: Solid) => ({
  volume: roundToSixDecimals(volume),
  faceUpArea: roundToSixDecimals(faceUpArea),
  length: roundToSixDecimals(length),
  width: roundToSixDecimals(width),
  depth: roundToSixDecimals(depth),
})
