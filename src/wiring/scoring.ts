import type { Metric } from '../http/health/metrics.ts'
import type { Traffic } from '../http/kit/traffic.ts'
import type { Followers } from './followers.ts'
import type { Installation } from './installation.ts'
import { commitOf, gauge, ifThere } from './metrics.ts'
import type { OpenParts } from './open-parts.ts'
import { giveWay } from '../projections/engine/give-way.ts'
import { checkpointOf } from '../projections/engine/reaction.ts'
import { scoring, type ScoringOptions } from '../reactions/scoring/scoring.ts'
import { CutTraces } from '../scoring/cut-traces.ts'
import { openTracePool, type TracePool } from '../scoring/trace-pool.ts'

export type Scoring = {
  /** Draws pictures, too. */
  readonly pool: TracePool
  readonly tools: ScoringOptions
  readonly metrics: (followers: Pick<Followers, 'isActive'>) => Promise<Metric[]>
}

/** What stones are scored with: on a thread where a cut has to be traced. */
export function openScoring(
  { store, reads, writing, log }: Installation,
  traffic: Pick<Traffic, 'hasRested'>,
  parts: OpenParts,
): Scoring {
  const pool = openTracePool({ standBack: true })
  parts.add({ stage: 'requests', name: 'tracing', stop: () => pool.close() })
  const traces = new CutTraces(pool, (cut, reason) => log.info({ cut, reason }, 'no stone can have these proportions'))
  let done = 0
  const scored = (count: number) => void (done += count)
  const requestsFirst = () => giveWay((milliseconds) => traffic.hasRested(milliseconds))
  return {
    pool,
    tools: { store, clock: writing.clock, traced: traces.of, scored, giveWay: requestsFirst },
    async metrics(followers) {
      const places = await ifThere(async () => {
        const model = await reads.model(checkpointOf(scoring.name))
        const [head, position] = [await store.head(), await model.position()]
        return { head: commitOf(head), position: commitOf(position), parked: (await model.parked()).size }
      })
      return [
        ...(places === undefined ? [] : lagging(places)),
        gauge('adamant_scoring_active', '1 where this process scores', followers.isActive(scoring.name) ? 1 : 0),
        {
          name: 'adamant_scores_total',
          help: 'Diamonds scored by this process since it started',
          kind: 'counter',
          value: done,
        },
      ]
    },
  }
}

function lagging({ head, position, parked }: { head: number; position: number; parked: number }): Metric[] {
  return [
    gauge('adamant_scoring_position', 'Position up to which diamonds are scored', position),
    gauge('adamant_scoring_lag', 'Positions between the head of the log and the scoring', head - position),
    gauge('adamant_scoring_parked_streams', 'Streams that can not be scored', parked),
  ]
}
