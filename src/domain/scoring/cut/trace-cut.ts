import type { Cut } from './cut.ts'
import { facetModels } from './facets.ts'
import type { Beam } from '../light/look.ts'
import { faceUp, lightReturn } from '../light/metrics.ts'
import { lines, refractiveIndex } from '../light/optics.ts'
import { perturbed, type Deviation } from './perturbation.ts'
import { proportionsOf } from './proportions.ts'
import { roundProportions } from './round-proportions.ts'
import { targetOf } from '../light/sampling.ts'
import { solidOf, type Solid } from '../solid/solid.ts'

/** All that the scores of any stone of a cut need. Lengths in widths of the stone, light as parts of what falls on the crown. */
export type TracedCut = {
  readonly volume: number
  readonly faceUpArea: number
  readonly length: number
  readonly width: number
  readonly depth: number
  /** Light return weighted by the squared cosine of the exit angle, and all of it. */
  readonly weighted: number
  readonly full: number
  /** Weighted return within 20° of the zenith, behind a head's shadow. */
  readonly faceup: number
  /** Angle between F and C light times its energy within 20° of the zenith, degrees. */
  readonly fire: number
  /** Rms of the facets' lean, degrees; null where nobody knows how they should stand. */
  readonly crownDeviation: number | null
  readonly pavilionDeviation: number | null
}

/** Index for the D line and the difference between the F and C lines. */
export const diamondOptics = {
  index: refractiveIndex(lines.D),
  dispersion: refractiveIndex(lines.F) - refractiveIndex(lines.C),
} as const

/** Rays over the whole sky, and within the eye's cone. With them a repeat with 16 times as many changes no score by its d. */
const SAMPLES = { sky: 32_768, eye: 16_384 } as const
const CUT_OFF = 1e-3

/** The stone whose scores are 1. */
export const referenceSolid = (): Solid => solidOf(facetModels.Round(roundProportions({})))

/** The stone of a cut: nominal or measured proportions, facets tilted as polish and symmetry allow. @throws ImpossibleProportions */
export function solidOfCut(cut: Cut): { solid: Solid; deviation: Deviation } {
  return perturbed(solidOf(facetModels[cut.shape](proportionsOf(cut))), cut.symmetry, cut.polish)
}

/** Traces a cut: about a second. The same cut gives the same numbers. @throws ImpossibleProportions */
export function traceCut(cut: Cut): TracedCut {
  const { solid, deviation } = solidOfCut(cut)
  return traceSolid(solid, deviation, 1)
}

export const traceReference = (): TracedCut => traceSolid(referenceSolid(), { crown: 0, pavilion: 0 }, 1)

/** @param fineness times the usual number of rays */
export function traceSolid(solid: Solid, deviation: Deviation | null, fineness: number): TracedCut {
  const target = targetOf(solid)
  const beam = (samples: number): Beam => ({ samples: samples * fineness, index: diamondOptics.index, cutOff: CUT_OFF })
  const { weighted, full } = lightReturn(target, beam(SAMPLES.sky))
  const { brightness, fire } = faceUp(target, beam(SAMPLES.eye), diamondOptics.dispersion)
  return {
    volume: kept(solid.volume),
    faceUpArea: kept(solid.faceUpArea),
    length: kept(solid.length),
    width: kept(solid.width),
    depth: kept(solid.depth),
    weighted: kept(weighted),
    full: kept(full),
    faceup: kept(brightness),
    fire: kept(fire),
    crownDeviation: deviation && kept(deviation.crown),
    pavilionDeviation: deviation && kept(deviation.pavilion),
  }
}

/** Six decimals: sines may differ in the last digit between engines, stored figures may not. */
const kept = (value: number): number => Math.round(value * 1e6) / 1e6
