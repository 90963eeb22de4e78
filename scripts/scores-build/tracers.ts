import { availableParallelism } from 'node:os'
import { ImpossibleProportions } from '../../src/optics/cut/proportions.ts'
import type { Cut } from '../../src/optics/cut/cut.ts'
import { openTracePool, type TracePool } from '../../src/optics/threads/trace-pool.ts'
import { startWorker } from '../../src/runtime/start-worker.ts'
import { WorkerPool } from '../../src/runtime/worker-pool.ts'
import type { FullTrace } from './full-trace-worker.ts'

export type CutTracer = Pick<TracePool, 'traceInWorker'>

/** What traces a stone with its true figures, in double precision, and what traces it as the service does. */
export type Tracers = { readonly full: CutTracer; readonly quick: CutTracer }

/** Runs a task that traces on all cores. */
export async function withTracers<Result>(run: (tracers: Tracers) => Promise<Result>): Promise<Result> {
  const threads = availableParallelism()
  const tracers = { full: openFullTracePool(threads), quick: openTracePool({ threads }) }
  try {
    return await run(tracers)
  } finally {
    await Promise.all([tracers.full.close(), tracers.quick.close()])
  }
}

function openFullTracePool(threads: number): CutTracer & Pick<TracePool, 'close'> {
  const start = () => startWorker('./full-trace-worker', import.meta.url)
  const pool = new WorkerPool<Cut | 'reference', FullTrace>(start, threads)
  return {
    traceInWorker: async (cut) => {
      const traced = await pool.run(cut)
      if ('impossible' in traced) throw new ImpossibleProportions(traced.impossible)
      return traced
    },
    close: () => pool.close(),
  }
}
