import { percentile } from '../../../bench/load/probe.ts'
import type { RunRecord } from './record.ts'

/** The figures of a run. */
export type Figures = {
  readonly seconds: number
  readonly requests: number
  readonly acknowledged: number
  readonly lost: number
  readonly refusals: Readonly<{ [status: string]: number }>
  /** Milliseconds of acknowledged single creates. */
  readonly creates: { readonly count: number; readonly median: number; readonly p99: number }
  /** How often each fault occurred. */
  readonly faults: Readonly<{ [name: string]: number }>
}

export function figuresOf(record: RunRecord, faults: ReadonlyMap<string, number>, seconds: number): Figures {
  const { requests, acknowledged, lost, refusals, creates } = record
  return {
    seconds,
    requests,
    acknowledged,
    lost,
    refusals: Object.fromEntries(refusals),
    creates: { count: creates.length, median: percentile(creates, 0.5), p99: percentile(creates, 0.99) },
    faults: Object.fromEntries(faults),
  }
}

/** The figures in one line of text. */
export function figuresLine(figures: Figures): string {
  const { seconds, requests, acknowledged, lost, refusals, creates, faults } = figures
  return [
    `${requests} requests in ${seconds.toFixed(0)} s`,
    `${acknowledged} acknowledged`,
    `${lost} responses lost`,
    `refused: ${counted(refusals)}`,
    `faults: ${counted(faults)}`,
    `${creates.count} single creates, median ${creates.median.toFixed(1)} ms, p99 ${creates.p99.toFixed(1)} ms`,
  ].join('; ')
}

const counted = (counts: Readonly<{ [name: string]: number }>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ') || 'none'
