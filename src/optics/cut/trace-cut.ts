import { FACE_UP_CUT_OFF, measureFaceUp, type FaceUpMetrics } from '../light/face-up.ts'
import { weightedLightReturn, type SamplingOptions } from '../light/light-return.ts'
import { lightTracer, type LightTracer } from '../light/light-tracer.ts'
import { roundToSixDecimals } from '../rounding.ts'
import { lines, refractiveIndex } from '../light/diamond-material.ts'
import { crownTargetOf } from '../light/view.ts'
import { solidOf, type Solid } from '../solid/solid.ts'
import { radians } from '../solid/facet.ts'
import type { Cut } from './cut.ts'
import { facetModels } from './facets.ts'
import { noLeanLoss, leanFactors, type LeanFactors } from './lean.ts'
import { modelledDeviation, perturbSolid, type Deviation } from './perturbation.ts'
import { proportionsOf, type Proportions } from './proportions.ts'

/** The proportions of a round brilliant as in reports: percent of the diameter, angles in degrees. */
export type RoundMeasures = {
  readonly table: number
  readonly crown: number
  readonly pavilion: number
  readonly star: number
  readonly lower: number
  readonly girdle: number
  readonly culet: number
}

/** A round brilliant of 1.00 ct with these proportions scores 1. It weighs 0.00367 times its diameter cubed (ct, mm). */
const referenceMeasures: RoundMeasures = {
  table: 56,
  crown: 34,
  pavilion: 40.5,
  star: 50,
  lower: 75,
  girdle: 3,
  culet: 0.5,
}

/** The proportions of a round brilliant; those not given are the reference's. */
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

/** All traced figures that scores need. Lengths in widths of the stone, light as fractions of the light that falls on the crown. */
export type TracedCut = FaceUpMetrics & {
  readonly volume: number
  readonly faceUpArea: number
  readonly length: number
  readonly width: number
  readonly depth: number
  /** Light return weighted by the squared cosine of the exit angle. */
  readonly weighted: number
  /** Rms tilt of the facets in degrees; null if the nominal symmetry is unknown. */
  readonly crownDeviation: number | null
  readonly pavilionDeviation: number | null
  /** Reduce the figures above to account for tilted facets; 1 if the facets were traced as tilted. */
  readonly factors: LeanFactors
}

/** Index at the D line, and the difference between the F and C lines. */
export const diamondOptics = {
  index: refractiveIndex(lines.D),
  dispersion: refractiveIndex(lines.F) - refractiveIndex(lines.C),
} as const

/** How light is traced. Rays are abandoned when this fraction of their energy is left. */
export type Tracing = {
  readonly tracer: LightTracer
  readonly faceUpCutOff: number
  readonly returnCutOff: number
  /** Number of rays over the whole sky. */
  readonly samples: number
  /** Multiple of the usual number of rays, face up and over the whole sky. */
  readonly fineness: number
}

/**
 * As the service traces. Relative scores differ by at most 0.02 from those traced in double precision and until half as much energy is left,
 * and by at most 0.01 for nine of ten stones (docs/scoring-model.md). With 16 times as many rays, no score changes by more than its d.
 */
export const quickTracing: Tracing = {
  tracer: lightTracer,
  faceUpCutOff: FACE_UP_CUT_OFF,
  returnCutOff: 0.01,
  samples: 4_096,
  fineness: 1,
}

/** The solid of the reference round, whose scores are 1. */
export const referenceSolid = (): Solid => solidOf(facetModels.Round(roundProportions({})))

/**
 * The solid shown in pictures: nominal or measured proportions, facets tilted as polish and symmetry allow.
 * @throws ImpossibleProportions
 */
export const solidOfCut = (cut: Cut): { solid: Solid; deviation: Deviation } =>
  perturbSolid(idealSolidOfCut(cut), cut.symmetry, cut.polish)

/** The solid without tilted facets. @throws ImpossibleProportions */
export const idealSolidOfCut = (cut: Cut): Solid => solidOf(facetModels[cut.shape](proportionsOf(cut)))

/**
 * Traces a cut; takes some hundredths of a second and is deterministic. The solid has no tilted facets, because one random tilt pattern may
 * happen to break up a leak or not; `factors` account for the tilt.
 * @throws ImpossibleProportions
 */
export function traceCut(cut: Cut, tracing = quickTracing): TracedCut {
  const solid = idealSolidOfCut(cut)
  return { ...traceSolid(solid, modelledDeviation(solid, cut.symmetry), tracing), factors: leanFactors(cut) }
}

export const traceReference = (tracing = quickTracing): TracedCut =>
  traceSolid(referenceSolid(), { crown: 0, pavilion: 0 }, tracing)

/** Traces a solid as it is. */
export function traceSolid(solid: Solid, deviation: Deviation | null, tracing = quickTracing): TracedCut {
  const { index, dispersion } = diamondOptics
  const { tracer, faceUpCutOff, returnCutOff, samples, fineness } = tracing
  const { volume, faceUpArea, length, width, depth } = solid
  const sampling: SamplingOptions = { samples: samples * fineness, index, cutOff: returnCutOff }
  const weighted = weightedLightReturn(crownTargetOf(solid), sampling, tracer)
  const face = measureFaceUp(solid, { index, dispersion, cutOff: faceUpCutOff, fineness }, tracer)
  return {
    ...roundFigures({ volume, faceUpArea, length, width, depth, weighted, ...face }),
    crownDeviation: deviation && roundToSixDecimals(deviation.crown),
    pavilionDeviation: deviation && roundToSixDecimals(deviation.pavilion),
    factors: noLeanLoss,
  }
}

const roundFigures = <Name extends string>(figures: Readonly<Record<Name, number>>) =>
  Object.fromEntries(
    Object.entries<number>(figures).map(([name, value]) => [name, roundToSixDecimals(value)]),
  ) as Record<Name, number>
