import type { AppLogger } from '../../runtime/logger.ts'
import { Interruption } from '../../runtime/outages.ts'
import { settlesWithin } from '../../runtime/deadline.ts'
import type { PositionOrStart } from '../../stores/ports/event-store.ts'
import type { Lease, ModelDeclaration, ReadModel, ReadStore } from '../../stores/ports/read-store.ts'
import { PolledProgress, type ProjectionProgress } from './progress.ts'
import type { RunCounters } from './loop.ts'
import type { ConsumerRunner } from './runner.ts'

/** Milliseconds between two attempts to acquire the lease: a bound for the time of a hand-over. */
const LEASE_RETRY_MS = 500

/** Milliseconds that `start` waits for the first attempt, and `stop` for pending work and for releasing the lease. */
const FIRST_ATTEMPT_TIMEOUT_MS = 5_000
const STOP_TIMEOUT_MS = 2_000

/**
 * Elects one runner among the processes of an installation. The holder of the lease runs the consumer; the others poll
 * its checkpoint and take over when the lease is released or expires. A process that lost its lease, for example after
 * a long pause, becomes a follower. Processes whose role does not project only poll.
 */
export class ActiveRunner implements ProjectionProgress {
  readonly #followed: ProjectionProgress
  #progress: ProjectionProgress
  #lease: Lease | undefined
  #timer: NodeJS.Timeout | undefined
  #trying: Promise<void> = Promise.resolve()
  #stopped = true
  readonly #asking: Interruption

  constructor(
    private readonly runner: Pick<ConsumerRunner, 'start' | 'stop' | 'progress' | 'counters'>,
    private readonly declaration: ModelDeclaration,
    private readonly reads: ReadStore,
    model: Pick<ReadModel, 'position'>,
    private readonly log: AppLogger,
  ) {
    this.#followed = new PolledProgress(model)
    this.#progress = this.#followed
    this.#asking = new Interruption(`lease of ${declaration.name}`, log)
  }

  /**
   * Resolves after the first attempt to acquire the lease, or after 5 s if the read store hangs. Can be called again
   * after a stop.
   */
  async start(): Promise<void> {
    if (!this.#stopped) return
    this.#stopped = false
    this.#trying = this.#trying.then(() => this.#try())
    await settlesWithin(this.#trying, FIRST_ATTEMPT_TIMEOUT_MS)
  }

  /**
   * Resolves when nothing runs here any more and the lease is released, or after a few seconds if the read store hangs.
   */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await settlesWithin(this.#trying, STOP_TIMEOUT_MS)
    const lease = this.#lease
    if (lease === undefined) return
    this.#leave()
    await this.runner.stop()
    await settlesWithin(lease.release(), STOP_TIMEOUT_MS)
  }

  get counters(): RunCounters[] {
    return [this.runner.counters]
  }

  get isActive(): boolean {
    return this.#lease !== undefined
  }

  /** The position reached by this process; undefined if another process runs the consumer. */
  get position(): PositionOrStart | undefined {
    return this.#lease === undefined ? undefined : this.runner.progress.position
  }

  waitForPosition(position: PositionOrStart, ms: number): boolean | Promise<boolean> {
    return this.#progress.waitForPosition(position, ms)
  }

  async #try(): Promise<void> {
    const lease = await this.#ask()
    if (lease === undefined) return this.#tryLater()
    // Stopped meanwhile: let another process have the lease.
    if (this.#stopped) return lease.release()
    this.#lease = lease
    this.runner.start()
    this.#progress = this.runner.progress
    void lease.lost.then(() => (this.#trying = this.#follow(lease)))
  }

  async #ask(): Promise<Lease | undefined> {
    try {
      const lease = await this.reads.acquireLease(this.declaration)
      this.#asking.end()
      return lease
    } catch (error) {
      this.#asking.recordFailure(error)
      return undefined
    }
  }

  #tryLater(): void {
    if (!this.#stopped) this.#timer = setTimeout(() => (this.#trying = this.#try()), LEASE_RETRY_MS).unref()
  }

  /** The lease was lost to another process. Writes of this one that are still under way can't overwrite newer ones. */
  async #follow(lost: Lease): Promise<void> {
    if (this.#stopped || this.#lease !== lost) return
    this.log.warn({ model: this.declaration.name }, 'another process has taken over a projection')
    this.#leave()
    await this.runner.stop()
    this.#tryLater()
  }

  #leave(): void {
    this.#progress = this.#followed
    this.#lease = undefined
  }
}
