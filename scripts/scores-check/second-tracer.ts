import type { Cut } from '../../src/optics/cut/cut.ts'
import { facetModels } from '../../src/optics/cut/facets.ts'
import { proportionsOf } from '../../src/optics/cut/proportions.ts'
import { diamondOptics } from '../../src/optics/cut/trace-cut.ts'
import { FACE_UP_CUT_OFF, measureFaceUp } from '../../src/optics/light/face-up.ts'
import { weightedLightReturn } from '../../src/optics/light/light-return.ts'
import { crownTargetOf } from '../../src/optics/light/view.ts'
import { solidOf, type Solid } from '../../src/optics/solid/solid.ts'
import { makeCheck, withinPercent, type Check } from './check.ts'
import { defaultCut, roundBrilliant } from './designs.ts'
import { meanColourSeparation } from './colour-separation.ts'
import { estimateMean, ratioOf, type Estimate } from './second-tracer/estimate.ts'
import { traceFire, type FireSettings, type Fire } from './second-tracer/fire.ts'
import { photonReturn } from './second-tracer/light-return.ts'
import { roundSides, type RoundBrilliant, type HalfSpace } from './second-tracer/round-brilliant.ts'

/** Two runs differ by 0.2 % by chance. */
const PHOTONS = 300_000
const SAMPLES = 400_000

const reference: RoundBrilliant = { table: 56, crown: 34, pavilion: 40.5, star: 50, lower: 75, girdle: 3, culet: 0.5 }

/** Sellmeier's formula for diamond at a wavelength in µm (refractiveindex.info, material C, Peter 1923). */
function indexAt(wavelength: number): number {
  const square = wavelength ** 2
  return Math.sqrt(1 + (4.3356 * square) / (square - 0.106 ** 2) + (0.3306 * square) / (square - 0.175 ** 2))
}

const ourLightReturn = (solid: Solid): number =>
  weightedLightReturn(crownTargetOf(solid), { samples: SAMPLES, index: diamondOptics.index, cutOff: 1e-4 })

const roundWith = (measures: Partial<RoundBrilliant>): HalfSpace[] => roundSides({ ...reference, ...measures })

const PERCENT = 0.5

const lightReturnCheck = (subject: string, sides: readonly HalfSpace[], solid: Solid): Check =>
  withinPercent(subject, photonReturn(sides, indexAt(0.5893), PHOTONS), ourLightReturn(solid), PERCENT, 4)

/** Each tracer constructs the round itself, so the geometry is checked too. */
function roundCheck(subject: string, measures: Partial<RoundBrilliant>): Check {
  return lightReturnCheck(subject, roundWith(measures), roundBrilliant(measures))
}

/**
 * Stones for the comparison of both tracers, independent of the choice of typical stones. Percent of the width, and degrees.
 */
const comparedStones = {
  Princess: { depthPct: 72.5, tablePct: 68, girdlePct: 3, crownAngle: 32, starPct: 55, lowerPct: 69.5 },
  Emerald: { depthPct: 64, tablePct: 62.5, girdlePct: 3.5, crownAngle: 33.5, starPct: 48.5, lowerPct: 80 },
  Asscher: { depthPct: 64, tablePct: 62.5, girdlePct: 3.5, crownAngle: 31, starPct: 54, lowerPct: 81.5 },
} as const satisfies Partial<Record<Cut['shape'], Cut['measured']>>

/** Other shapes have the same planes in both tracers, so only the light is checked. */
function comparedShape(shape: keyof typeof comparedStones): { solid: Solid; sides: HalfSpace[] } {
  const cut = { ...defaultCut(shape, 'Excellent'), measured: comparedStones[shape] }
  const solid = solidOf(facetModels[shape](proportionsOf(cut)))
  return {
    solid,
    sides: solid.facets.map(({ normal, offset, part }) => ({ normal, offset, isCrown: part === 'crown' })),
  }
}

function shapeCheck(shape: keyof typeof comparedStones): Check {
  const { solid, sides } = comparedShape(shape)
  return lightReturnCheck(`${shape}, the same planes`, sides, solid)
}

const pavilions = [39, 40, 41, 42, 43, 44]
const shapes = ['Princess', 'Emerald', 'Asscher'] as const

/** Compares weighted light return with a second tracer, which follows photons forwards and computes with amplitudes. */
export const secondTracerChecks = (): Check[] => [
  roundCheck('reference round', {}),
  ...pavilions.map((pavilion) => roundCheck(`pavilion ${pavilion}°`, { pavilion })),
  ...shapes.map(shapeCheck),
]

/** The fineness of our tracer for fire: with four times as many spots the result differs by less than 0.05 %. */
const FINENESS = 16
/** Follows rays almost to their end. */
const FINE_CUT_OFF = 1e-4

const index = { D: indexAt(0.5893), F: indexAt(0.4861), C: indexAt(0.6563) }

/**
 * Fire as it is scored: a derivative, approximated by two colours around D whose indices differ by a hundredth of the difference between F and
 * C, times a hundred; rays are abandoned as in our tracer.
 */
const scoredSettings: FireSettings = {
  F: index.D + (index.F - index.C) / 200,
  C: index.D - (index.F - index.C) / 200,
  angleFactor: 100,
  cutOff: FACE_UP_CUT_OFF,
}
/** Fire as it is defined: with F and C light, and rays followed almost to their end. */
const definedSettings: FireSettings = { F: index.F, C: index.C, cutOff: FINE_CUT_OFF }

/** Means of several runs of the second tracer with different grids, in degrees. */
type FireEstimates = { readonly asScored: Estimate; readonly asDefined: Estimate; readonly separation: Estimate }

function estimateFire(sides: readonly HalfSpace[], runs: number): FireEstimates {
  const runResults = Array.from({ length: runs }, (_, run) =>
    traceFire(sides, index.D, [scoredSettings, definedSettings], run + 1),
  )
  const estimate = (which: number, name: keyof Fire) => estimateMean(runResults.map((run) => run[which]?.[name] ?? NaN))
  return { asScored: estimate(0, 'fire'), asDefined: estimate(1, 'fire'), separation: estimate(1, 'separation') }
}

/** The results of runs differ by 0.02 % (reference) to 0.2 %. */
const RUNS = 5

const ourFire = (solid: Solid, dispersion: number = diamondOptics.dispersion): number =>
  measureFaceUp(solid, { index: diamondOptics.index, dispersion, fineness: FINENESS }).fire

/**
 * Compares fire with a second tracer, which measures the angle between rays of two colours, whereas ours computes its derivative: the
 * reference in degrees, other stones relative to the reference, as in scores. The two differ where the eye looks along a side of the girdle:
 * one of the colours F and C is totally reflected there, which a derivative does not include. The last line is the standard error of the
 * second tracer's results.
 */
export function secondFireChecks(): Check[] {
  const referenceEstimates = estimateFire(roundWith({}), RUNS)
  const ourReferenceFire = ourFire(roundBrilliant({}))
  const comparisons: readonly Comparison[] = [
    ['reference: angle times energy, degrees', referenceEstimates.separation, meanColourSeparation(roundBrilliant({}))],
    ['reference: as scored, degrees', referenceEstimates.asScored, ourReferenceFire],
    ...pavilions.map((pavilion): Comparison => {
      const { asDefined } = estimateFire(roundWith({ pavilion }), RUNS)
      const ourRelativeFire = ourFire(roundBrilliant({ pavilion })) / ourReferenceFire
      return [
        `pavilion ${pavilion}°, over the reference`,
        ratioOf(asDefined, referenceEstimates.asDefined),
        ourRelativeFire,
      ]
    }),
    ...shapes.flatMap((shape): Comparison[] => {
      const { solid, sides } = comparedShape(shape)
      const { asScored, asDefined } = estimateFire(sides, RUNS)
      const ourRelativeFire = ourFire(solid) / ourReferenceFire
      return [
        [`${shape}, the same planes, colours near D`, ratioOf(asScored, referenceEstimates.asScored), ourRelativeFire],
        [`${shape}, the same planes, F and C`, ratioOf(asDefined, referenceEstimates.asDefined), ourRelativeFire],
      ]
    }),
  ]
  return [
    noDispersionCheck(),
    ...comparisons.map(([subject, { mean }, ourRelativeFire]) =>
      withinPercent(subject, mean, ourRelativeFire, PERCENT, 4),
    ),
    standardErrorCheck(comparisons.map(([, estimate]) => estimate)),
  ]
}

type Comparison = readonly [subject: string, estimate: Estimate, ours: number]

function noDispersionCheck(): Check {
  const { D } = index
  const white = [
    traceFire(roundWith({}), D, [{ F: D, C: D, cutOff: FACE_UP_CUT_OFF }], 1)[0]?.fire,
    ourFire(roundBrilliant({}), 0),
  ]
  const none = white.every((fire) => fire === 0)
  return makeCheck('reference round without dispersion', '0 in both', white.join(' and '), none)
}

/** The standard error must be at most a quarter of the tolerance, so that a failure is not due to chance. */
function standardErrorCheck(estimates: readonly Estimate[]): Check {
  const largest = 100 * Math.max(...estimates.map(({ standardError }) => standardError))
  const limit = PERCENT / 4
  return makeCheck('standard error of these', `at most ${limit} %`, `${largest.toFixed(3)} %`, largest <= limit)
}
