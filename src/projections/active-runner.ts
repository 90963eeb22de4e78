import type { Log } from '../log.ts'
import type { From } from '../stores/event-store.ts'
import type { Lease, ModelDeclaration, ReadModel, ReadStore } from '../stores/read-store.ts'
import { FollowedProgress } from './followed-progress.ts'
import type { Progress } from './progress.ts'

/** Milliseconds between two tries to become the active runner: hand-over takes no longer. */
const RETRY = 500

/** A projection's or a reaction's runner. */
export type Runner = {
  readonly declaration: ModelDeclaration
  readonly progress: Progress
  start(): void
  stop(): Promise<void>
}

/**
 * One runner among the processes of an installation: the one that holds the lease runs, the others follow its
 * checkpoint and take over when it ends. A process whose role is not to project only follows.
 */
export class ActiveRunner implements Progress {
  #progress: Progress
  #lease: Lease | undefined
  #timer: NodeJS.Timeout | undefined
  #trying: Promise<void> = Promise.resolve()
  #stopped = false

  constructor(
    private readonly runner: Runner,
    private readonly reads: ReadStore,
    model: Pick<ReadModel, 'position'>,
    private readonly log: Log,
  ) {
    this.#progress = new FollowedProgress(model)
  }

  /** Resolves after the first try to become the active runner. */
  start(): Promise<void> {
    this.#trying = this.#try()
    return this.#trying
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#trying
    if (this.#lease === undefined) return
    await this.runner.stop()
    await this.#lease.release()
  }

  get active(): boolean {
    return this.#lease !== undefined
  }

  reached(position: From, ms: number): boolean | Promise<boolean> {
    return this.#progress.reached(position, ms)
  }

  async #try(): Promise<void> {
    try {
      this.#lease = await this.reads.lease(this.runner.declaration)
    } catch (error) {
      this.log.warn({ err: error }, 'the lease of a projection could not be asked for; trying again')
    }
    if (this.#lease === undefined) {
      if (!this.#stopped) this.#timer = setTimeout(() => (this.#trying = this.#try()), RETRY).unref()
      return
    }
    this.runner.start()
    this.#progress = this.runner.progress
  }
}
