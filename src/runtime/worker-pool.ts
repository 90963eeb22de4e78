import type { Worker } from 'node:worker_threads'

type Job<Task, Answer> = { task: Task; resolve: (answer: Answer) => void; reject: (error: Error) => void }

/**
 * A pool of threads that respond to each message with one message, one task at a time. A thread starts when a task
 * needs it and lives until the pool is closed or its idle timeout; idle threads do not keep the process alive.
 */
export class WorkerPool<Task, Answer> {
  readonly #start: () => Worker
  readonly #maxThreads: number
  readonly #idleTimeoutMs: number | undefined
  readonly #waiting: Job<Task, Answer>[] = []
  readonly #jobByWorker = new Map<Worker, Job<Task, Answer> | undefined>()
  readonly #idleTimers = new WeakMap<Worker, NodeJS.Timeout>()
  #closed = false

  /** @param idleTimeoutMs milliseconds without a task after which a thread ends; default: never */
  constructor(start: () => Worker, threads: number, idleTimeoutMs?: number) {
    this.#start = start
    this.#maxThreads = threads
    this.#idleTimeoutMs = idleTimeoutMs
  }

  /** @throws Error if the pool is closed, or the thread ends during the task */
  run(task: Task): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new Error('the pool of threads is closed'))
      this.#waiting.push({ task, resolve, reject })
      this.#next()
    })
  }

  /** Tasks that are queued or running. */
  get pendingTaskCount(): number {
    return this.#waiting.length + [...this.#jobByWorker.values()].filter((job) => job !== undefined).length
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const { reject } of this.#waiting.splice(0)) reject(new Error('the pool of threads is closed'))
    await Promise.all([...this.#jobByWorker.keys()].map((worker) => worker.terminate()))
  }

  #next(): void {
    const job = this.#waiting[0]
    const worker = job === undefined ? undefined : this.#findIdleWorker()
    if (job === undefined || worker === undefined) return
    this.#waiting.shift()
    clearTimeout(this.#idleTimers.get(worker))
    this.#jobByWorker.set(worker, job)
    worker.ref()
    worker.postMessage(job.task)
    this.#next()
  }

  #findIdleWorker(): Worker | undefined {
    const idle = [...this.#jobByWorker].find(([, job]) => job === undefined)?.[0]
    return idle ?? (this.#jobByWorker.size < this.#maxThreads ? this.#startThread() : undefined)
  }

  #startThread(): Worker {
    const worker = this.#start()
    this.#jobByWorker.set(worker, undefined)
    worker.on('message', (answer: Answer) => {
      const job = this.#jobByWorker.get(worker)
      this.#jobByWorker.set(worker, undefined)
      worker.unref()
      job?.resolve(answer)
      this.#next()
      this.#scheduleEnd(worker)
    })
    worker.on('error', (error: Error) => {
      const job = this.#jobByWorker.get(worker)
      // No task is affected; the next task starts a new thread.
      if (job === undefined) process.emitWarning(error)
      else job.reject(error)
    })
    worker.on('exit', () => {
      this.#jobByWorker.get(worker)?.reject(new Error('the thread ended'))
      this.#jobByWorker.delete(worker)
      if (!this.#closed) this.#next()
    })
    return worker
  }

  /** Ends an idle thread after the timeout, unless a task arrives first. */
  #scheduleEnd(worker: Worker): void {
    if (this.#idleTimeoutMs === undefined || this.#jobByWorker.get(worker) !== undefined) return
    const end = () => {
      this.#jobByWorker.delete(worker)
      void worker.terminate()
    }
    this.#idleTimers.set(worker, setTimeout(end, this.#idleTimeoutMs).unref())
  }
}
