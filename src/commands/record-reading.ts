import type { ReportRead, ReportReading } from '../domain/certification/certification.ts'
import { recordReading as decide } from '../domain/certification/decide.ts'
import { diamondStream } from '../domain/diamond/streams.ts'
import { diamondFold } from './diamond-fold.ts'
import { handle, type Writing } from './handle.ts'

export type ReadReport = {
  readonly diamond: number
  readonly certification: number
  readonly reading: ReportReading
  /** The request that attached the report, and its event's id. */
  readonly correlation: string
  readonly causation: string
}

/**
 * Writes down what was read of a report, once.
 * @returns undefined where it had been before, or where the certification is gone
 * @throws WrongRevision, OutcomeUnknown, StoreUnavailable
 */
export async function recordReading(writing: Writing, report: ReadReport): Promise<ReportRead | undefined> {
  const { diamond, certification, reading, correlation, causation } = report
  const origin = { actor: 'reports', via: 'projection', correlation, causation } as const
  const wish = { stream: diamondStream(diamond), id: `report-read/${certification}`, origin }
  const { events } = await handle(writing, wish, diamondFold, (state) => decide(state, certification, reading))
  return events.find((event): event is ReportRead => event.type === 'ReportRead')
}
