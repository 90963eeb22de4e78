import type { Cut } from '../domain/scoring/cut/cut.ts'
import { ImpossibleProportions, UntraceableCut } from '../domain/scoring/cut/proportions.ts'
import type { TracedCut } from '../domain/scoring/cut/trace-cut.ts'
import { startWorker } from '../runtime/start-worker.ts'
import type { Answer, PictureOrder, Task } from './trace-jobs.ts'
import { WorkerPool } from '../runtime/worker-pool.ts'

/**
 * Traces cuts and draws pictures on threads of its own, so that the event loop stays free. Both refuse with
 * ImpossibleProportions where no stone can have the measures, with UntraceableCut where the tracing failed over them, and
 * with Error when the pool was closed or its thread died.
 */
export type TracePool = {
  /** About a second. */
  readonly traceInWorker: (cut: Cut | 'reference') => Promise<TracedCut>
  /** A PNG file; some seconds. */
  readonly drawInWorker: (order: PictureOrder) => Promise<Uint8Array>
  /** Cuts and pictures that somebody waits for. */
  readonly unfinished: () => number
  readonly close: () => Promise<void>
}

export type TracePoolOptions = {
  /** 1 unless said otherwise. */
  readonly threads?: number
  /** True where nobody waits for the answers: the threads then take what requests leave of the processor. */
  readonly lowPriority?: boolean
}

export function openTracePool({ threads = 1, lowPriority = false }: TracePoolOptions = {}): TracePool {
  const start = () => startWorker('./trace-worker', import.meta.url, { lowPriority })
  const pool = new WorkerPool<Task, Answer>(start, threads)
  return {
    traceInWorker: async (cut) => {
      const answer = await pool.run({ kind: 'trace', cut })
      return answer.kind === 'traced' ? answer.traced : refuse(answer)
    },
    drawInWorker: async (order) => {
      const answer = await pool.run({ kind: 'draw', order })
      return answer.kind === 'drawn' ? answer.png : refuse(answer)
    },
    unfinished: () => pool.unfinished,
    close: () => pool.close(),
  }
}

function refuse(answer: Answer): never {
  if (answer.kind === 'impossible') throw new ImpossibleProportions(answer.message)
  if (answer.kind === 'failed') throw new UntraceableCut(answer.message)
  throw new Error(`the tracing thread answered ${answer.kind}`)
}
