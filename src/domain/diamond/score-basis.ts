import { measuredProportions } from '../certification/measured-proportions.ts'
import type { CutMeasurements } from '../scoring/cut/cut.ts'
import { possibleCut } from '../scoring/cut/possible-cut.ts'
import { cutOf, type Stone } from '../scoring/cut/stone.ts'
import { isNewer, OPTICS_VERSION } from '../scoring/version.ts'
import { diamondDecider, type Diamond, type DiamondEvent, type LiveDiamond } from './diamond.ts'
import { SCORED_FIELDS, type FieldName } from './fields.ts'
import { stoneOf } from './scored-stone.ts'
import type { Scores } from './scores.ts'

/** A diamond, and the revision of its last event that changed what its scores are computed from; -1 before one did. */
export type ScoringState = { readonly diamond: Diamond; readonly stoneRevision: number }

export const initialScoringState: ScoringState = { diamond: diamondDecider.initialState, stoneRevision: -1 }

export function evolveScoring(state: ScoringState, event: DiamondEvent, revision: number): ScoringState {
  const diamond = diamondDecider.evolve(state.diamond, event)
  const changed = invalidatesScores(event) || measuredOf(diamond) !== measuredOf(state.diamond)
  return { diamond, stoneRevision: changed ? revision : state.stoneRevision }
}

/** True when scores computed before this event no longer describe the stone. */
export const invalidatesScores = (event: DiamondEvent): boolean =>
  event.type === 'DiamondCreated' ||
  event.type === 'StoneModelAttached' ||
  event.type === 'StoneModelRemoved' ||
  changes(event, (name) => SCORED_FIELDS.has(name))

/** True for an event after which the diamond may need other scores; only its whole stream tells whether it does. */
export const mayInvalidateScores = (event: DiamondEvent): boolean =>
  invalidatesScores(event) ||
  event.type === 'ReportRead' ||
  event.type === 'CertificationRemoved' ||
  // Whether a report fits its stone decides whether its measures count.
  changes(event, (name) => name === 'isLabGrown')

function changes(event: DiamondEvent, matters: (name: FieldName) => boolean): boolean {
  if (event.type !== 'DiamondPatched') return false
  const { set, removed } = event.data
  return removed.some(matters) || (Object.keys(set) as FieldName[]).some(matters)
}

const measuredOf = (diamond: Diamond): string | undefined =>
  diamond.status === 'live' ? JSON.stringify(measuredProportions(diamond)) : undefined

/**
 * Whose a figure is: of any stone of that shape, of any of that shape and grade, of what a report measured of this very
 * stone, of the word with which its symmetry is graded, or of its own facets, which a 3D file of it has.
 */
export type ScoreSource = 'shape' | 'grade' | 'measurements' | 'word' | 'facets'

/** What the scores of a diamond rest on. */
export type ScoreBasis = {
  /** Of brilliance, fire, and the two together. */
  readonly light: ScoreSource
  readonly spread: ScoreSource
  readonly symmetry: ScoreSource
  /** What of the cut was measured, where `light` says so; the rest is typical. */
  readonly measured: readonly (keyof CutMeasurements)[]
}

/** @param scores as they were computed, by this model or an older one */
export function scoreBasisOf(
  diamond: Pick<LiveDiamond, 'fields' | 'certifications' | 'model'>,
  scores: Scores | null,
): ScoreBasis {
  if (diamond.model !== undefined) return { light: 'facets', spread: 'facets', symmetry: 'facets', measured: [] }
  const stone = asScoredByVersion(stoneOf(diamond), scores?.brilliance?.ver ?? OPTICS_VERSION)
  const cut = cutOf(stone)
  const measured = Object.keys((cut && possibleCut(cut))?.measured ?? {}) as (keyof CutMeasurements)[]
  const typical = stone.cutGrade === undefined ? 'shape' : 'grade'
  const light = measured.length > 0 ? 'measurements' : typical
  return {
    light,
    spread: stone.face === undefined ? light : 'measurements',
    symmetry: stone.symmetry === undefined ? typical : 'word',
    measured,
  }
}

/** The first model that counts what a report says in part, and measurements. */
const COUNTS_PARTS = '1.1.0'
/** Without any of these an older one counted nothing of a report, and with all of them nothing else. */
const NEEDED_BEFORE = ['tablePct', 'depthPct', 'crownAngle', 'pavilionAngle'] as const

function asScoredByVersion(stone: Stone, version: string): Stone {
  if (!isNewer(COUNTS_PARTS, version)) return stone
  const { measured, face: _face, ...typical } = stone
  if (measured === undefined || NEEDED_BEFORE.some((name) => measured[name] === undefined)) return typical
  return { ...typical, measured: Object.fromEntries(NEEDED_BEFORE.map((name) => [name, measured[name]])) }
}
