import type { Metric } from '../http/health/metrics.ts'
import type { Traffic } from '../http/kit/traffic.ts'
import type { Installation } from './installation.ts'
import type { OpenParts } from './open-parts.ts'
import { giveWay } from '../reactions/scoring/give-way.ts'
import type { ScoringOptions } from '../reactions/scoring/scoring.ts'
import { stoneModelsFrom } from './stone-models.ts'
import { CutTraces } from '../scoring/cut-traces.ts'
import { openTracePool, type TracePool } from '../scoring/trace-pool.ts'

export type Scoring = {
  /** Draws pictures, too. */
  readonly pool: TracePool
  readonly tools: ScoringOptions
  readonly metrics: () => Metric[]
}

/** What stones are scored with: on a thread where a cut has to be traced. */
export function openScoring(
  { files, writing, log }: Installation,
  traffic: Pick<Traffic, 'hasRested'>,
  parts: OpenParts,
): Scoring {
  const pool = openTracePool({ lowPriority: true })
  parts.add({ stage: 'requests', name: 'tracing', stop: () => pool.close() })
  const traces = new CutTraces(pool, (cut, reason) => log.info({ cut, reason }, 'no stone can have these proportions'))
  const models = stoneModelsFrom(pool, files)
  let done = 0
  const scored = (count: number) => void (done += count)
  const requestsFirst = () => giveWay((milliseconds) => traffic.hasRested(milliseconds))
  return {
    pool,
    tools: {
      ...writing,
      traced: traces.of,
      tracedModel: models.traced,
      scored,
      giveWay: requestsFirst,
    },
    metrics: () => [
      {
        name: 'adamant_scores_total',
        help: 'Diamonds scored by this process since it started',
        kind: 'counter',
        value: done,
      },
      {
        name: 'adamant_scoring_traces_waiting',
        help: 'Cuts that scoring waits for until they are traced',
        kind: 'gauge',
        value: pool.unfinished(),
      },
    ],
  }
}
