import type { Cut } from '../cut/cut.ts'
import { ImpossibleProportions, UntraceableCut } from '../cut/proportions.ts'
import type { SymmetryFold } from '../mesh/symmetry.ts'
import type { StoneModelProperties } from '../stone-model-tracing.ts'
import { InvalidMesh } from '../mesh/mesh.ts'
import type { TracedCut } from '../cut/trace-cut.ts'
import { startWorker } from '../../runtime/start-worker.ts'
import type { PictureRequest, TraceOutcome, TraceResult, TraceTask } from './trace-messages.ts'
import { WorkerPool } from '../../runtime/worker-pool.ts'

/**
 * Traces cuts and draws pictures in worker threads, so that the event loop stays free. Both reject with ImpossibleProportions if no
 * stone can have the proportions, with UntraceableCut if tracing failed, and with Error if the pool was closed or the thread died.
 */
export type TracePool = {
  /** Takes some hundredths of a second. */
  readonly traceInWorker: (cut: Cut | 'reference') => Promise<TracedCut>
  /** Computes the properties of a 3D model. @throws InvalidMesh if the file is not a 3D file, or its body is not a stone */
  readonly inspectInWorker: (bytes: Uint8Array<ArrayBuffer>) => Promise<StoneModelProperties>
  /** Traces a stone's 3D model. @throws UntraceableCut if the file is not a stone */
  readonly traceModelInWorker: (bytes: Uint8Array<ArrayBuffer>, fold: SymmetryFold | undefined) => Promise<TracedCut>
  /** Returns a PNG file; takes about 0.1 to 0.3 s. */
  readonly drawInWorker: (request: PictureRequest) => Promise<Uint8Array>
  readonly pendingCount: () => number
  readonly close: () => Promise<void>
}

export type TracePoolOptions = {
  readonly threads?: number
  /** For background work: the threads get a low scheduling priority and leave the processor to requests. */
  readonly lowPriority?: boolean
}

export function openTracePool({ threads = 1, lowPriority = false }: TracePoolOptions = {}): TracePool {
  const start = () => startWorker('./trace-worker', import.meta.url, { lowPriority })
  const pool = new WorkerPool<TraceTask, TraceOutcome>(start, threads)
  /** `Result` is what trace-worker.ts returns for this kind of task. */
  const run = async <Result extends TraceResult>(task: TraceTask): Promise<Result> => {
    const outcome = await pool.run(task)
    if (outcome.kind === 'done') return outcome.result as Result
    if (outcome.kind === 'impossible') throw new ImpossibleProportions(outcome.message)
    if (outcome.kind === 'no-stone' && task.kind === 'inspect') throw new InvalidMesh(outcome.message)
    throw new UntraceableCut(outcome.message)
  }
  return {
    traceInWorker: (cut) => run({ kind: 'trace', cut }),
    inspectInWorker: (bytes) => run({ kind: 'inspect', bytes }),
    traceModelInWorker: (bytes, fold) => run({ kind: 'trace-model', bytes, fold }),
    drawInWorker: (request) => run({ kind: 'draw', request }),
    pendingCount: () => pool.pendingTaskCount,
    close: () => pool.close(),
  }
}
