import { diamondDecider, type Diamond, type DiamondEvent } from './diamond.ts'
import { measuredProportions } from '../certification/measured.ts'
import { SCORED, type FieldName } from './fields.ts'

/** A diamond, and the revision of its last event that changed what its scores are computed from; -1 before one did. */
export type ScoringState = { readonly diamond: Diamond; readonly stoneRevision: number }

export const neverScored: ScoringState = { diamond: diamondDecider.initialState, stoneRevision: -1 }

export function evolveScoring(state: ScoringState, event: DiamondEvent, revision: number): ScoringState {
  const diamond = diamondDecider.evolve(state.diamond, event)
  const changed = touchesScores(event) || measuredOf(diamond) !== measuredOf(state.diamond)
  return { diamond, stoneRevision: changed ? revision : state.stoneRevision }
}

/** True when scores computed before this event no longer describe the stone. */
export const touchesScores = (event: DiamondEvent): boolean =>
  event.type === 'DiamondCreated' ||
  event.type === 'StoneModelAttached' ||
  event.type === 'StoneModelRemoved' ||
  changes(event, (name) => SCORED.has(name))

/** True for an event after which the diamond may need other scores; only its whole stream tells whether it does. */
export const mayTouchScores = (event: DiamondEvent): boolean =>
  touchesScores(event) ||
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
