import type { Cut } from '../../src/domain/scoring/cut/cut.ts'
import { facetModels } from '../../src/domain/scoring/cut/facets.ts'
import { proportionsOf } from '../../src/domain/scoring/cut/proportions.ts'
import { diamondOptics } from '../../src/domain/scoring/cut/trace-cut.ts'
import { measureFaceUp } from '../../src/domain/scoring/light/face-up.ts'
import { weightedLightReturn } from '../../src/domain/scoring/light/light-return.ts'
import { crownTargetOf } from '../../src/domain/scoring/light/view.ts'
import { solidOf, type Solid } from '../../src/domain/scoring/solid/solid.ts'
import { says, within, type Check } from './check.ts'
import { plain, roundOf } from './designs.ts'
import { separationSeen } from './separation-seen.ts'
import { estimateOf, over, type Estimate } from './second-tracer/estimate.ts'
import { fireSeen, type Asked, type Fire } from './second-tracer/fire.ts'
import { photonReturn } from './second-tracer/light-return.ts'
import { roundSides, type Round, type Side } from './second-tracer/round.ts'

/** Two runs differ by 0.2 % by chance. */
const PHOTONS = 300_000
const SAMPLES = 400_000

const reference: Round = { table: 56, crown: 34, pavilion: 40.5, star: 50, lower: 75, girdle: 3, culet: 0.5 }

/** Sellmeier's formula for diamond at a wavelength in µm (refractiveindex.info, material C, Peter 1923). */
function indexAt(wavelength: number): number {
  const square = wavelength ** 2
  return Math.sqrt(1 + (4.3356 * square) / (square - 0.106 ** 2) + (0.3306 * square) / (square - 0.175 ** 2))
}

const ours = (solid: Solid): number =>
  weightedLightReturn(crownTargetOf(solid), { samples: SAMPLES, index: diamondOptics.index, cutOff: 1e-4 })

const roundLike = (measures: Partial<Round>): Side[] => roundSides({ ...reference, ...measures })

const PERCENT = 0.5

const check = (subject: string, sides: readonly Side[], solid: Solid): Check =>
  within(subject, photonReturn(sides, indexAt(0.5893), PHOTONS), ours(solid), PERCENT, 4)

/** Each tracer constructs the round itself, so the geometry is checked too. */
function roundCheck(subject: string, measures: Partial<Round>): Check {
  return check(subject, roundLike(measures), roundOf(measures))
}

/**
 * Stones for the comparison of both tracers, independent of the choice of typical stones. Percent of the width, and degrees.
 */
const stones = {
  Princess: { depthPct: 72.5, tablePct: 68, girdlePct: 3, crownAngle: 32, starPct: 55, lowerPct: 69.5 },
  Emerald: { depthPct: 64, tablePct: 62.5, girdlePct: 3.5, crownAngle: 33.5, starPct: 48.5, lowerPct: 80 },
  Asscher: { depthPct: 64, tablePct: 62.5, girdlePct: 3.5, crownAngle: 31, starPct: 54, lowerPct: 81.5 },
} as const satisfies Partial<Record<Cut['shape'], Cut['measured']>>

/** Other shapes have the same planes in both tracers, so only the light is checked. */
function shapeOf(shape: keyof typeof stones): { solid: Solid; sides: Side[] } {
  const cut = { ...plain(shape, 'Excellent'), measured: stones[shape] }
  const solid = solidOf(facetModels[shape](proportionsOf(cut)))
  return {
    solid,
    sides: solid.facets.map(({ normal, offset, part }) => ({ normal, at: offset, isCrown: part === 'crown' })),
  }
}

function shapeCheck(shape: keyof typeof stones): Check {
  const { solid, sides } = shapeOf(shape)
  return check(`${shape}, the same planes`, sides, solid)
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
/** Our tracer abandons a ray when this fraction of its light is left. */
const GIVEN_UP = 0.01
/** Follows rays almost to their end. */
const FAINT = 1e-4

const index = { D: indexAt(0.5893), F: indexAt(0.4861), C: indexAt(0.6563) }

/**
 * Fire as it is scored: a derivative, approximated by two colours around D whose indices differ by a hundredth of the difference between F and
 * C, times a hundred; rays are abandoned as in our tracer.
 */
const asScored: Asked = {
  F: index.D + (index.F - index.C) / 200,
  C: index.D - (index.F - index.C) / 200,
  times: 100,
  faint: GIVEN_UP,
}
/** Fire as it is defined: with F and C light, and rays followed almost to their end. */
const asMeant: Asked = { F: index.F, C: index.C, faint: FAINT }

/** Means of several runs of the second tracer with different grids, in degrees. */
type Seen = { readonly scored: Estimate; readonly meant: Estimate; readonly separation: Estimate }

function seen(sides: readonly Side[], runs: number): Seen {
  const found = Array.from({ length: runs }, (_, run) => fireSeen(sides, index.D, [asScored, asMeant], run + 1))
  const of = (which: number, name: keyof Fire) => estimateOf(found.map((run) => run[which]?.[name] ?? NaN))
  return { scored: of(0, 'fire'), meant: of(1, 'fire'), separation: of(1, 'separation') }
}

/** The results of runs differ by 0.02 % (reference) to 0.2 %. */
const RUNS = 5

const ourFire = (solid: Solid, dispersion: number = diamondOptics.dispersion): number =>
  measureFaceUp(solid, diamondOptics.index, dispersion, FINENESS).fire

/**
 * Compares fire with a second tracer, which measures the angle between rays of two colours, whereas ours computes its derivative: the
 * reference in degrees, other stones relative to the reference, as in scores. The two differ where the eye looks along a side of the girdle:
 * one of the colours F and C is totally reflected there, which a derivative does not include. The last line is the standard error of the
 * second tracer's results.
 */
export function secondFireChecks(): Check[] {
  const own = seen(roundLike({}), RUNS)
  const ours = ourFire(roundOf({}))
  const lines: readonly Line[] = [
    ['reference: angle times energy, degrees', own.separation, separationSeen(roundOf({}))],
    ['reference: as scored, degrees', own.scored, ours],
    ...pavilions.map((pavilion): Line => {
      const { meant } = seen(roundLike({ pavilion }), RUNS)
      const figure = ourFire(roundOf({ pavilion })) / ours
      return [`pavilion ${pavilion}°, over the reference`, over(meant, own.meant), figure]
    }),
    ...shapes.flatMap((shape): Line[] => {
      const { solid, sides } = shapeOf(shape)
      const { scored, meant } = seen(sides, RUNS)
      const figure = ourFire(solid) / ours
      return [
        [`${shape}, the same planes, colours near D`, over(scored, own.scored), figure],
        [`${shape}, the same planes, F and C`, over(meant, own.meant), figure],
      ]
    }),
  ]
  return [
    withoutDispersion(),
    ...lines.map(([subject, { mean }, figure]) => within(subject, mean, figure, PERCENT, 4)),
    chanceOf(lines.map(([, estimate]) => estimate)),
  ]
}

type Line = readonly [subject: string, seen: Estimate, ours: number]

function withoutDispersion(): Check {
  const { D } = index
  const white = [fireSeen(roundLike({}), D, [{ F: D, C: D, faint: GIVEN_UP }], 1)[0]?.fire, ourFire(roundOf({}), 0)]
  const none = white.every((fire) => fire === 0)
  return says('reference round without dispersion', '0 in both', white.join(' and '), none)
}

/** The standard error must be at most a quarter of the tolerance, so that a failure is not due to chance. */
function chanceOf(estimates: readonly Estimate[]): Check {
  const largest = 100 * Math.max(...estimates.map(({ chance }) => chance))
  const most = PERCENT / 4
  return says('standard error of these', `at most ${most} %`, `${largest.toFixed(3)} %`, largest <= most)
}
