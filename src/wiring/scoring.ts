import { join } from 'node:path'
import type { Metric } from '../runtime/metrics.ts'
import type { Traffic } from '../http/kit/traffic.ts'
import { giveWay, type ScoringOptions } from '../reactions/scoring/scoring.ts'
import { CutTraces } from '../scoring/cut-traces.ts'
import { StoneModels } from '../scoring/stone-models.ts'
import { openTracePool, type TracePool } from '../scoring/trace-pool.ts'
import { pictureFolder } from '../stores/folder/pictures.ts'
import type { Files, KeptPictures } from '../stores/ports/files.ts'
import type { Installation } from './installation.ts'
import type { OpenParts } from './open-parts.ts'

/** Stones' own bodies, from where an installation keeps its files. */
export const stoneModelsFrom = (pool: TracePool, files: Files): StoneModels =>
  new StoneModels(pool, async (digest) => {
    const stream = await files.read(digest)
    if (stream === undefined) return undefined
    const chunks: Buffer[] = []
    for await (const chunk of stream) chunks.push(chunk as Buffer)
    return new Uint8Array(Buffer.concat(chunks))
  })

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

/** Some thousand pictures of cuts. */
const MOST_BYTES = 256 * 1024 * 1024

/** Pictures in DATA_DIR/pictures. A folder that can't be used costs the time to draw them again, and a line in the log. */
export function keptPictures({ settings, log }: Pick<Installation, 'settings' | 'log'>): KeptPictures {
  const folder = pictureFolder(join(settings.DATA_DIR, 'pictures'), MOST_BYTES)
  const told = (error: unknown) => {
    log.warn({ err: error }, 'pictures can not be kept in DATA_DIR/pictures; they are drawn again')
    return undefined
  }
  return { get: (key) => folder.get(key).catch(told), put: (key, png) => folder.put(key, png).catch(told) }
}
