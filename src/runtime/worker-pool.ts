import type { Worker } from 'node:worker_threads'

type Job<Task, Answer> = { task: Task; done: (answer: Answer) => void; failed: (error: Error) => void }

/**
 * A pool of threads that respond to each message with one message, one task at a time. A thread starts when a task
 * needs it and lives until the pool is closed or its idle timeout; idle threads do not keep the process alive.
 */
export class WorkerPool<Task, Answer> {
  readonly #start: () => Worker
  readonly #threads: number
  readonly #idleTimeoutMs: number | undefined
  readonly #waiting: Job<Task, Answer>[] = []
  readonly #running = new Map<Worker, Job<Task, Answer> | undefined>()
  readonly #idleTimers = new WeakMap<Worker, NodeJS.Timeout>()
  #closed = false

  /** @param idleFor milliseconds without a task after which a thread ends; default: never */
  constructor(start: () => Worker, threads: number, idleFor?: number) {
    this.#start = start
    this.#threads = threads
    this.#idleTimeoutMs = idleFor
  }

  /** @throws Error if the pool is closed, or the thread ends during the task */
  run(task: Task): Promise<Answer> {
    return new Promise((done, failed) => {
      if (this.#closed) return failed(new Error('the pool of threads is closed'))
      this.#waiting.push({ task, done, failed })
      this.#next()
    })
  }

  /** Tasks that are queued or running. */
  get pendingTaskCount(): number {
    return this.#waiting.length + [...this.#running.values()].filter((job) => job !== undefined).length
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const { failed } of this.#waiting.splice(0)) failed(new Error('the pool of threads is closed'))
    await Promise.all([...this.#running.keys()].map((worker) => worker.terminate()))
  }

  #next(): void {
    const job = this.#waiting[0]
    const worker = job === undefined ? undefined : this.#idle()
    if (job === undefined || worker === undefined) return
    this.#waiting.shift()
    clearTimeout(this.#idleTimers.get(worker))
    this.#running.set(worker, job)
    worker.ref()
    worker.postMessage(job.task)
    this.#next()
  }

  #idle(): Worker | undefined {
    const idle = [...this.#running].find(([, job]) => job === undefined)?.[0]
    return idle ?? (this.#running.size < this.#threads ? this.#startThread() : undefined)
  }

  #startThread(): Worker {
    const worker = this.#start()
    this.#running.set(worker, undefined)
    worker.on('message', (answer: Answer) => {
      const job = this.#running.get(worker)
      this.#running.set(worker, undefined)
      worker.unref()
      job?.done(answer)
      this.#next()
      this.#endLater(worker)
    })
    worker.on('error', (error: Error) => {
      const job = this.#running.get(worker)
      // No task is affected; the next task starts a new thread.
      if (job === undefined) process.emitWarning(error)
      else job.failed(error)
    })
    worker.on('exit', () => {
      this.#running.get(worker)?.failed(new Error('the thread ended'))
      this.#running.delete(worker)
      if (!this.#closed) this.#next()
    })
    return worker
  }

  /** Ends an idle thread after the timeout, unless a task arrives first. */
  #endLater(worker: Worker): void {
    if (this.#idleTimeoutMs === undefined || this.#running.get(worker) !== undefined) return
    const end = () => {
      this.#running.delete(worker)
      void worker.terminate()
    }
    this.#idleTimers.set(worker, setTimeout(end, this.#idleTimeoutMs).unref())
  }
}
