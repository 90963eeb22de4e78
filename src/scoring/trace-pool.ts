import type { Worker } from 'node:worker_threads'
import { ImpossibleProportions } from '../domain/scoring/proportions.ts'
import type { TracedCut } from '../domain/scoring/trace-cut.ts'
import { startWorker } from '../start-worker.ts'
import type { TraceAnswer, TraceRequest } from './trace-jobs.ts'

/** Traces cuts on threads of its own, so that the event loop stays free. */
export type TracePool = {
  /** @throws ImpossibleProportions; Error when the pool was closed or its thread died */
  readonly traceInWorker: (cut: TraceRequest['cut']) => Promise<TracedCut>
  readonly close: () => Promise<void>
}

type Job = { request: TraceRequest; done: (traced: TracedCut) => void; failed: (error: Error) => void }

/** A thread starts with the first cut that needs it, and lives until the pool is closed. */
export function openTracePool(threads = 1): TracePool {
  const waiting: Job[] = []
  const idle: Worker[] = []
  const running = new Map<Worker, Job | undefined>()
  let lastId = 0
  let closed = false

  const next = () => {
    while (waiting.length > 0) {
      const worker = idle.pop() ?? (running.size < threads ? start() : undefined)
      const job = worker === undefined ? undefined : waiting.shift()
      if (worker === undefined || job === undefined) return
      running.set(worker, job)
      worker.ref()
      worker.postMessage(job.request)
    }
  }
  const start = (): Worker => {
    const worker = startWorker('./trace-worker', import.meta.url)
    running.set(worker, undefined)
    worker.on('message', (answer: TraceAnswer) => {
      const job = running.get(worker)
      running.set(worker, undefined)
      worker.unref()
      idle.push(worker)
      if ('traced' in answer) job?.done(answer.traced)
      else job?.failed(new ImpossibleProportions(answer.error))
      next()
    })
    worker.on('error', (error: Error) => running.get(worker)?.failed(error))
    worker.on('exit', () => {
      running.get(worker)?.failed(new Error('the tracing thread ended'))
      running.delete(worker)
      if (idle.includes(worker)) idle.splice(idle.indexOf(worker), 1)
      if (!closed) next()
    })
    return worker
  }

  return {
    traceInWorker: (cut) =>
      new Promise((done, failed) => {
        if (closed) return failed(new Error('the pool of tracing threads is closed'))
        waiting.push({ request: { id: ++lastId, cut }, done, failed })
        next()
      }),
    close: async () => {
      closed = true
      for (const { failed } of waiting.splice(0)) failed(new Error('the pool of tracing threads is closed'))
      await Promise.all([...running.keys()].map((worker) => worker.terminate()))
    },
  }
}
