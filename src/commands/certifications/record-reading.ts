import {
  certificationOf,
  diamondDecider,
  diamondStream,
  recordReading as decide,
} from '../../domain/diamond/diamond.ts'
import type { ReportReading } from '../../domain/certification/certification.ts'
import { contradictionsOf, type Contradiction } from '../../domain/certification/contradictions.ts'
import { handle, type Writing } from '../core/handle.ts'

export type ReadReport = {
  readonly diamond: number
  readonly certification: number
  readonly reading: ReportReading
  /** The request that attached the report, and its event's id. */
  readonly correlation: string
  readonly causation: string
  readonly trace?: string
}

/** In what the report says otherwise than its owner. */
export type Recorded = { readonly contradictions: readonly Contradiction[] }

/**
 * Writes down what was read of a report, once.
 * @returns undefined where it had been before, or where the certification is gone
 * @throws WrongRevision, OutcomeUnknown, StoreUnavailable
 */
export async function recordReading(writing: Writing, report: ReadReport): Promise<Recorded | undefined> {
  const { diamond, certification, reading, correlation, causation, trace } = report
  const origin = {
    actor: 'reports',
    via: 'projection',
    correlation,
    causation,
    ...(trace !== undefined && { trace }),
  } as const
  const wish = { stream: diamondStream(diamond), id: `report-read/${certification}`, origin }
  const { state, events } = await handle(writing, wish, diamondDecider, (found) =>
    decide(found, certification, reading),
  )
  const read = certificationOf(state, certification)
  if (events.length === 0 || state.status !== 'live' || read === undefined) return undefined
  return { contradictions: contradictionsOf(read, state.fields) }
}
