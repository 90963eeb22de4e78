import type { Worker } from 'node:worker_threads'
import { WorkerPool } from '../worker-pool.ts'
import { FairShare } from './fair-share.ts'
import { FairSemaphore } from './semaphores.ts'

/** A place among those who wait for the thread. */
export type ThreadSlot<Task, Answer> = {
  /**
   * Does a task when it is its turn, and ends the place.
   * @param first goes before those who don't
   * @throws Error where the thread is closed, or ends over the task
   */
  run(task: Task, first?: boolean): Promise<Answer>
  release(): void
}

/** Work of which one thread does one task at a time. There are so many places, shared fairly, and so are the turns. */
export class FairThread<Task, Answer> {
  readonly #slots: FairShare
  readonly #turns = new FairSemaphore(1)
  readonly #pool: WorkerPool<Task, Answer>

  /** @param idle milliseconds behind the last task at which the thread ends; it does not unless told */
  constructor(start: () => Worker, places: number, idle?: number) {
    this.#slots = new FairShare(places)
    this.#pool = new WorkerPool(start, 1, idle)
  }

  /**
   * @param names who takes a place, from the widest to the narrowest
   * @returns undefined where all are taken, or as many as one of these names may have
   */
  acquireSlot(names: readonly string[]): ThreadSlot<Task, Answer> | undefined {
    const allocation = this.#slots.openAllocation(names)
    if (!allocation.tryTake(1)) return undefined
    return {
      release: () => allocation.release(),
      run: async (task, first = false) => {
        const end = await this.#turns.acquire({ names, first })
        try {
          return await this.#pool.run(task)
        } finally {
          end()
          allocation.release()
        }
      },
    }
  }

  /** Whoever still waits is told that it is closed. */
  close(): Promise<void> {
    return this.#pool.close()
  }
}
