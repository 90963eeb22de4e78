import { measuredProportions } from '../certification/measured.ts'
import { evolve, unknown, type Diamond, type DiamondEvent } from './diamond.ts'
import { touchesScores } from './scoring-inputs.ts'

/** A diamond, and the revision of its last event that changed what its scores are computed from; -1 before one did. */
export type ScoringState = { readonly diamond: Diamond; readonly inputsRevision: number }

export const neverScored: ScoringState = { diamond: unknown, inputsRevision: -1 }

export function evolveScoring(state: ScoringState, event: DiamondEvent, revision: number): ScoringState {
  const diamond = evolve(state.diamond, event)
  const changed = touchesScores(event) || measuredOf(diamond) !== measuredOf(state.diamond)
  return { diamond, inputsRevision: changed ? revision : state.inputsRevision }
}

/** True for an event after which the diamond may need other scores; only its whole stream tells whether it does. */
export const mayTouchScores = (event: DiamondEvent): boolean =>
  touchesScores(event) ||
  event.type === 'ReportRead' ||
  event.type === 'CertificationRemoved' ||
  // Whether a report fits its stone decides whether its measures count.
  (event.type === 'DiamondPatched' && ('isLabGrown' in event.data.set || event.data.removed.includes('isLabGrown')))

const measuredOf = (diamond: Diamond): string | undefined =>
  diamond.status === 'live' ? JSON.stringify(measuredProportions(diamond)) : undefined
