import type { Cut } from '../domain/scoring/cut/cut.ts'
import { ImpossibleProportions, UntraceableCut } from '../domain/scoring/cut/proportions.ts'
import type { SymmetryFold } from '../domain/scoring/mesh/symmetry.ts'
import type { StoneModelProperties } from '../domain/diamond/stone-model.ts'
import { RequestError } from '../domain/decider.ts'
import type { TracedCut } from '../domain/scoring/cut/trace-cut.ts'
import { startWorker } from '../runtime/start-worker.ts'
import type { TraceTaskResult, PictureRequest, TraceTask } from './trace-messages.ts'
import { WorkerPool } from '../runtime/worker-pool.ts'

/**
 * Traces cuts and draws pictures on threads of its own, so that the event loop stays free. Both refuse with
 * ImpossibleProportions where no stone can have the measures, with UntraceableCut where the tracing failed over them, and
 * with Error when the pool was closed or its thread died.
 */
export type TracePool = {
  /** Some 0.3 s. */
  readonly traceInWorker: (cut: Cut | 'reference') => Promise<TracedCut>
  /** What a 3D file says of its stone. @throws Refusal invalid for what is no 3D file, or no stone's */
  readonly inspectInWorker: (bytes: Uint8Array<ArrayBuffer>) => Promise<StoneModelProperties>
  /** A stone's own body. @throws UntraceableCut where the file is no stone's */
  readonly traceModelInWorker: (bytes: Uint8Array<ArrayBuffer>, fold: SymmetryFold | undefined) => Promise<TracedCut>
  /** A PNG file; some 0.1 to 0.3 s. */
  readonly drawInWorker: (order: PictureRequest) => Promise<Uint8Array>
  /** Cuts and pictures that somebody waits for. */
  readonly pendingCount: () => number
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
  const pool = new WorkerPool<TraceTask, TraceTaskResult>(start, threads)
  return {
    traceInWorker: async (cut) => {
      const answer = await pool.run({ kind: 'trace', cut })
      return answer.kind === 'traced' ? answer.traced : throwTaskFailure(answer)
    },
    inspectInWorker: async (bytes) => {
      const answer = await pool.run({ kind: 'inspect', bytes })
      if (answer.kind === 'no-stone') throw new RequestError('invalid', [{ pointer: '/file', message: answer.message }])
      return answer.kind === 'inspected' ? answer.shape : throwTaskFailure(answer)
    },
    traceModelInWorker: async (bytes, fold) => {
      const answer = await pool.run({ kind: 'trace-model', bytes, fold })
      return answer.kind === 'traced' ? answer.traced : throwTaskFailure(answer)
    },
    drawInWorker: async (order) => {
      const answer = await pool.run({ kind: 'draw', order })
      return answer.kind === 'drawn' ? answer.png : throwTaskFailure(answer)
    },
    pendingCount: () => pool.pendingTaskCount,
    close: () => pool.close(),
  }
}

function throwTaskFailure(answer: TraceTaskResult): never {
  if (answer.kind === 'impossible') throw new ImpossibleProportions(answer.message)
  if (answer.kind === 'failed' || answer.kind === 'no-stone') throw new UntraceableCut(answer.message)
  throw new Error(`the tracing thread answered ${answer.kind}`)
}
