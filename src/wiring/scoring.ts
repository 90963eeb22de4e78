import type { Metric } from '../http/health/metrics.ts'
import type { Traffic } from '../http/kit/traffic.ts'
import type { Installation } from './installation.ts'
import { commitOf, gauge, ifThere } from './metrics.ts'
import type { OpenParts } from './open-parts.ts'
import { ActiveRunner } from '../projections/engine/active-runner.ts'
import { giveWay } from '../projections/engine/give-way.ts'
import { ReactionRunner } from '../projections/engine/reaction.ts'
import { scoring } from '../reactions/scoring/scoring.ts'
import { CutTraces } from '../scoring/cut-traces.ts'
import { openTracePool, type TracePool } from '../scoring/trace-pool.ts'

export type Scoring = {
  /** Draws pictures, too. */
  readonly pool: TracePool
  readonly start: () => Promise<void>
  readonly metrics: () => Promise<Metric[]>
}

/** Scores are computed in the one process that holds the reaction's lease, on a thread where a cut has to be traced. */
export async function openScoring(
  { store, reads, writing, log }: Installation,
  traffic: Pick<Traffic, 'hasRested'>,
  parts: OpenParts,
): Promise<Scoring> {
  const pool = openTracePool({ standBack: true })
  parts.add({ stage: 'requests', name: 'tracing', stop: () => pool.close() })
  const traces = new CutTraces(pool, (cut, reason) => log.info({ cut, reason }, 'no stone can have these proportions'))
  let done = 0
  const scored = (count: number) => void (done += count)
  const requestsFirst = () => giveWay((milliseconds) => traffic.hasRested(milliseconds))
  const reaction = scoring({ store, clock: writing.clock, traced: traces.of, scored, giveWay: requestsFirst })
  const runner = new ReactionRunner(reaction, store, reads, log)
  const model = await reads.model(runner.declaration)
  const active = new ActiveRunner(runner, reads, model, log)
  parts.add({ stage: 'requests', name: 'scoring', stop: () => active.stop(), figures: () => active.figures })
  return {
    pool,
    start: () => active.start(),
    async metrics() {
      const places = await ifThere(async () => ({
        head: commitOf(await store.head()),
        position: commitOf(await model.position()),
        parked: (await model.parked()).size,
      }))
      return [
        ...(places === undefined ? [] : lagging(places)),
        gauge('adamant_scoring_active', '1 where this process scores', active.active ? 1 : 0),
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
