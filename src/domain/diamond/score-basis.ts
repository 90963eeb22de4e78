import { measuredProportions } from '../certification/measured-proportions.ts'
import type { CutMeasurements } from '../../optics/cut/cut.ts'
import { possibleCut } from '../../optics/cut/possible-cut.ts'
import { cutOf, type Stone } from '../../optics/cut/stone.ts'
import { isNewer, OPTICS_VERSION } from '../../optics/version.ts'
import { diamondFold, type Diamond, type DiamondEvent, type LiveDiamond } from './diamond.ts'
import { SCORED_FIELDS, type FieldName } from './fields.ts'
import { proportionsOf, stoneOf } from './scored-stone.ts'
import { toStoneMeasurements } from './stone-measurements.ts'
import type { Scores } from '../../optics/scores.ts'

/** A diamond, and the revision of the last event that changed an input of its scores; -1 if there is none. */
export type ScoringState = { readonly diamond: Diamond; readonly stoneRevision: number }

export const initialScoringState: ScoringState = { diamond: diamondFold.initialState, stoneRevision: -1 }

export function evolveScoring(state: ScoringState, event: DiamondEvent, revision: number): ScoringState {
  const diamond = diamondFold.evolve(state.diamond, event)
  const changed = invalidatesScores(event) || measuredProportionsKey(diamond) !== measuredProportionsKey(state.diamond)
  return { diamond, stoneRevision: changed ? revision : state.stoneRevision }
}

/** Whether scores computed before this event are outdated. */
export const invalidatesScores = (event: DiamondEvent): boolean =>
  event.type === 'DiamondCreated' ||
  event.type === 'StoneModelAttached' ||
  event.type === 'StoneModelRemoved' ||
  changes(event, (name) => SCORED_FIELDS.has(name))

/** Whether scores may be outdated after this event. To be sure, fold the whole stream. */
export const mayInvalidateScores = (event: DiamondEvent): boolean =>
  invalidatesScores(event) ||
  event.type === 'ReportRead' ||
  event.type === 'CertificationRemoved' ||
  // Whether the owner's statements agree with a report decides whether its measurements count.
  changes(event, (name) => name === 'isLabGrown')

function changes(event: DiamondEvent, matters: (name: FieldName) => boolean): boolean {
  if (event.type !== 'DiamondPatched') return false
  const { set, removed } = event.data
  return removed.some(matters) || (Object.keys(set) as FieldName[]).some(matters)
}

const measuredProportionsKey = (diamond: Diamond): string | undefined =>
  diamond.status === 'live' ? JSON.stringify(measuredProportions(diamond)) : undefined

/**
 * What a score is computed from: typical proportions of the shape, or of shape and cut grade; proportions in a report of this
 * stone, those that its owner states, or both; its symmetry grade (`word`); or the facets of its 3D model.
 */
export type ScoreSource = 'shape' | 'grade' | 'report' | 'owner' | 'report and owner' | 'word' | 'facets'

export type ScoreBasis = {
  /** Of brilliance, fire and integral. */
  readonly light: ScoreSource
  readonly spread: ScoreSource
  readonly symmetry: ScoreSource
  /** The proportions from a report, and those that the owner states; the others are typical. */
  readonly measured: readonly (keyof CutMeasurements)[]
  readonly stated: readonly (keyof CutMeasurements)[]
}

/** @param scores as computed by the current model version or an earlier one */
export function scoreBasisOf(
  diamond: Pick<LiveDiamond, 'fields' | 'certifications' | 'model'>,
  scores: Scores | null,
): ScoreBasis {
  if (diamond.model !== undefined)
    return { light: 'facets', spread: 'facets', symmetry: 'facets', measured: [], stated: [] }
  const stone = asScoredByVersion(stoneOf(diamond), scores?.brilliance?.ver ?? OPTICS_VERSION)
  const cut = cutOf(stone)
  const known = Object.keys((cut && possibleCut(cut))?.measured ?? {}) as (keyof CutMeasurements)[]
  const inReport = toStoneMeasurements(stone.shape ?? 'Other', proportionsOf(diamond).measured)
  const measured = known.filter((name) => inReport.measured?.[name] !== undefined)
  const stated = known.filter((name) => !measured.includes(name))
  const typicalSource = stone.cutGrade === undefined ? 'shape' : 'grade'
  const light = sourceOf(measured.length > 0, stated.length > 0) ?? typicalSource
  const isSizeInReport = inReport.face !== undefined
  return {
    light,
    spread: stone.face === undefined ? light : isSizeInReport ? 'report' : 'owner',
    symmetry: stone.symmetry === undefined ? typicalSource : 'word',
    measured,
    stated,
  }
}

function sourceOf(isMeasured: boolean, isStated: boolean): 'report' | 'owner' | 'report and owner' | undefined {
  if (isMeasured) return isStated ? 'report and owner' : 'report'
  return isStated ? 'owner' : undefined
}

/** The first model version that uses incomplete reports and the measurements in mm. */
const FIRST_VERSION_WITH_PARTIAL_REPORTS = '1.1.0'
/** Earlier versions ignored a report unless it had all of these, and used only these. */
const FORMERLY_REQUIRED = ['tablePct', 'depthPct', 'crownAngle', 'pavilionAngle'] as const

function asScoredByVersion(stone: Stone, version: string): Stone {
  if (!isNewer(FIRST_VERSION_WITH_PARTIAL_REPORTS, version)) return stone
  const { measured, face: _face, ...withoutMeasurements } = stone
  if (measured === undefined || FORMERLY_REQUIRED.some((name) => measured[name] === undefined))
    return withoutMeasurements
  return {
    ...withoutMeasurements,
    measured: Object.fromEntries(FORMERLY_REQUIRED.map((name) => [name, measured[name]])),
  }
}
