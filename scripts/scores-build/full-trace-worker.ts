import { parentPort } from 'node:worker_threads'
import type { Cut } from '../../src/optics/cut/cut.ts'
import { ImpossibleProportions } from '../../src/optics/cut/proportions.ts'
import { traceCut, traceReference, type TracedCut } from '../../src/optics/cut/trace-cut.ts'
import { fullTracing } from '../scores-check/plain-tracer/full-tracing.ts'

/** The reason if no stone has the proportions. */
export type FullTrace = TracedCut | { readonly impossible: string }

parentPort?.on('message', (cut: Cut | 'reference') => parentPort?.postMessage(traceFully(cut)))

function traceFully(cut: Cut | 'reference'): FullTrace {
  try {
    return cut === 'reference' ? traceReference(fullTracing) : traceCut(cut, fullTracing)
  } catch (error) {
    if (error instanceof ImpossibleProportions) return { impossible: error.message }
    throw error
  }
}
