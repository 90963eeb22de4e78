import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { Counter } from 'prom-client'
import type { RequestActivity } from '../http/kit/request-activity.ts'
import { yieldToRequests, type ScoringReactionOptions } from '../reactions/scoring/scoring.ts'
import { TracedCutCache } from '../optics/threads/traced-cut-cache.ts'
import { StoneModelTracer } from '../optics/threads/stone-model-tracer.ts'
import { openTracePool, type TracePool } from '../optics/threads/trace-pool.ts'
import { openPictureCache } from '../stores/folder/picture-cache.ts'
import { readIntactFile } from '../stores/intact-file.ts'
import type { FileStore, PictureStore } from '../stores/ports/file-store.ts'
import type { Installation } from './installation.ts'
import { registerGauges } from './scraped-metrics.ts'
import type { ServiceParts } from './service-parts.ts'

/** Traces diamonds' own 3D models, read from the file store. */
export const createStoneModels = (pool: TracePool, files: FileStore): StoneModelTracer =>
  new StoneModelTracer(pool, async (digest) => {
    const content = await readIntactFile(files, digest)
    return content && new Uint8Array(content)
  })

/** Each takes about 40 MB. */
const MAX_TRACING_THREADS = 4

/** Opens scoring; ray tracing runs on worker threads. */
export function openScoring(
  { files, context, log, metricsRegistry }: Installation,
  traffic: Pick<RequestActivity, 'isIdleFor'>,
  parts: ServiceParts,
): ScoringReactionOptions {
  const threads = Math.min(availableParallelism(), MAX_TRACING_THREADS)
  const pool = openTracePool({ threads, lowPriority: true })
  parts.add({ stage: 'requests', name: 'tracing', stop: () => pool.close() })
  const cuts = new TracedCutCache(pool, (cut, reason) =>
    log.info({ cut, reason }, 'no diamond can have these proportions'),
  )
  const models = createStoneModels(pool, files)
  const scores = new Counter({
    name: 'adamant_scores_total',
    help: 'Diamonds scored since the process started',
    registers: [metricsRegistry],
  })
  registerGauges(metricsRegistry, {
    adamant_scoring_traces_waiting: ['Cuts queued for ray tracing', () => pool.pendingCount()],
  })
  const waitWhileBusy = () => yieldToRequests((milliseconds) => traffic.isIdleFor(milliseconds))
  return {
    ...context,
    cuts,
    models,
    onScored: (count) => scores.inc(count),
    yieldToRequests: waitWhileBusy,
  }
}

/** Enough for some thousand pictures. */
const MAX_PICTURE_CACHE_BYTES = 256 * 1024 * 1024

/** The cache of pictures in DATA_DIR/pictures. Failures are logged, and the pictures drawn again. */
export function openPictureStore({ settings, log }: Pick<Installation, 'settings' | 'log'>): PictureStore {
  const folder = openPictureCache(join(settings.DATA_DIR, 'pictures'), MAX_PICTURE_CACHE_BYTES)
  const logCacheError = (error: unknown) => {
    log.warn({ err: error }, 'pictures cannot be cached in DATA_DIR/pictures; drawing them again')
    return undefined
  }
  return {
    get: (key) => folder.get(key).catch(logCacheError),
    put: (key, png) => folder.put(key, png).catch(logCacheError),
  }
}
