import type { Worker } from 'node:worker_threads'
import { WorkerPool } from '../worker-pool.ts'
import { FairShare } from './fair-share.ts'
import { FairSemaphore } from './semaphores.ts'

/** A slot in the thread's queue. */
type ThreadSlot<Task, Answer> = {
  /**
   * Runs a task when its turn comes, then releases the slot.
   * @param isPriority has priority over tasks without it
   * @throws Error if the thread is closed, or ends during the task
   */
  run(task: Task, isPriority?: boolean): Promise<Answer>
  release(): void
}

/**
 * Runs tasks on one thread, one at a time. A limited number of queue slots and the order of tasks are shared fairly
 * among clients.
 */
export class FairThread<Task, Answer> {
  readonly #slots: FairShare
  readonly #turns = new FairSemaphore(1)
  readonly #pool: WorkerPool<Task, Answer>

  /** @param idleTimeoutMs milliseconds after the last task before the thread ends; default: never */
  constructor(start: () => Worker, maxSlots: number, idleTimeoutMs?: number) {
    this.#slots = new FairShare(maxSlots)
    this.#pool = new WorkerPool(start, 1, idleTimeoutMs)
  }

  /**
   * @param names of the client, from the widest to the narrowest
   * @returns undefined if all slots are taken, or the share of one of these names is used up
   */
  acquireSlot(names: readonly string[]): ThreadSlot<Task, Answer> | undefined {
    const allocation = this.#slots.openAllocation(names)
    if (!allocation.tryTake(1)) return undefined
    return {
      release: () => allocation.release(),
      run: async (task, isPriority = false) => {
        const releaseTurn = await this.#turns.acquire({ names, isPriority })
        try {
          return await this.#pool.run(task)
        } finally {
          releaseTurn()
          allocation.release()
        }
      },
    }
  }

  /** Queued tasks are rejected. */
  close(): Promise<void> {
    return this.#pool.close()
  }
}
