import { ImpossibleProportions } from '../../src/optics/cut/proportions.ts'
import type { Cut } from '../../src/optics/cut/cut.ts'
import type { TracePool } from '../../src/optics/threads/trace-pool.ts'
import { startWorker } from '../../src/runtime/start-worker.ts'
import { WorkerPool } from '../../src/runtime/worker-pool.ts'
import type { FullTrace } from './full-trace-worker.ts'

export type CutTracer = Pick<TracePool, 'traceInWorker'>

/** Traces cuts in double precision on several threads, for what does not have to be quick. */
export function openFullTracePool(threads: number): CutTracer & Pick<TracePool, 'close'> {
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
