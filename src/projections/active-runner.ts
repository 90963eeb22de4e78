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
 * checkpoint and take over when it ends. One that stood still for so long that another took over follows that one from
 * then on. A process whose role is not to project only follows.
 */
export class ActiveRunner implements Progress {
  readonly #followed: Progress
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
    this.#followed = new FollowedProgress(model)
    this.#progress = this.#followed
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
    const lease = this.#lease
    if (lease === undefined) return this.#tryLater()
    this.runner.start()
    this.#progress = this.runner.progress
    void lease.lost.then(() => (this.#trying = this.#follow(lease)))
  }

  #tryLater(): void {
    if (!this.#stopped) this.#timer = setTimeout(() => (this.#trying = this.#try()), RETRY).unref()
  }

  /** Another process runs it now; what this one has under way changes nothing that is newer. */
  async #follow(lost: Lease): Promise<void> {
    if (this.#stopped || this.#lease !== lost) return
    this.log.warn({ model: this.runner.declaration.name }, 'another process has taken over a projection')
    this.#progress = this.#followed
    this.#lease = undefined
    await this.runner.stop()
    this.#tryLater()
  }
}
