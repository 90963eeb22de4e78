import type { Cut } from '../../src/domain/scoring/cut/cut.ts'
import { facetModels } from '../../src/domain/scoring/cut/facets.ts'
import { proportionsOf } from '../../src/domain/scoring/cut/proportions.ts'
import { diamondOptics } from '../../src/domain/scoring/cut/trace-cut.ts'
import { weightedLightReturn } from '../../src/domain/scoring/light/light-return.ts'
import { targetOf } from '../../src/domain/scoring/light/sampling.ts'
import { solidOf, type Solid } from '../../src/domain/scoring/solid/solid.ts'
import { within, type Check } from './check.ts'
import { plain, roundOf } from './designs.ts'
import { photonReturn } from './second-tracer/light-return.ts'
import { roundSides, type Round, type Side } from './second-tracer/round.ts'

/** By chance alone two runs differ by 0.2 %. */
const PHOTONS = 300_000
const SAMPLES = 400_000

const reference: Round = { table: 56, crown: 34, pavilion: 40.5, star: 50, lower: 75, girdle: 3, culet: 0.5 }

/** Sellmeier's formula for diamond at the D line, 0.5893 µm (refractiveindex.info, material C, Peter 1923). */
function indexAtD(): number {
  const square = 0.5893 ** 2
  return Math.sqrt(1 + (4.3356 * square) / (square - 0.106 ** 2) + (0.3306 * square) / (square - 0.175 ** 2))
}

const ours = (solid: Solid): number =>
  weightedLightReturn(targetOf(solid), { samples: SAMPLES, index: diamondOptics.index, cutOff: 1e-4 })

const check = (subject: string, sides: readonly Side[], solid: Solid): Check =>
  within(subject, photonReturn(sides, indexAtD(), PHOTONS), ours(solid), 0.5, 4)

/** Rounds are drawn twice as well, each tracer's by itself. */
function roundCheck(subject: string, measures: Partial<Round>): Check {
  return check(subject, roundSides({ ...reference, ...measures }), roundOf(measures))
}

/** Of other shapes both trace the same planes: what is compared is the light. */
function shapeCheck(shape: Cut['shape']): Check {
  const solid = solidOf(facetModels[shape](proportionsOf(plain(shape, 'Excellent'))))
  const sides = solid.facets.map(({ normal, offset, part }) => ({ normal, at: offset, isCrown: part === 'crown' }))
  return check(`${shape}, the same planes`, sides, solid)
}

/** Weighted light return by a second tracer, which goes forwards, photon by photon, with amplitudes. */
export const secondTracerChecks = (): Check[] => [
  roundCheck('reference round', {}),
  ...[39, 40, 41, 42, 43, 44].map((pavilion) => roundCheck(`pavilion ${pavilion}°`, { pavilion })),
  ...(['Princess', 'Emerald', 'Asscher'] as const).map(shapeCheck),
]
