import { parentPort } from 'node:worker_threads'
import { traceCut, traceReference } from '../domain/scoring/trace-cut.ts'
import type { TraceAnswer, TraceRequest } from './trace-jobs.ts'

/** Answers each request in turn; a cut that can't be is an answer, not the thread's end. */
parentPort?.on('message', ({ id, cut }: TraceRequest) => parentPort?.postMessage(answer(id, cut)))

function answer(id: number, cut: TraceRequest['cut']): TraceAnswer {
  try {
    return { id, traced: cut === 'reference' ? traceReference() : traceCut(cut) }
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) }
  }
}
