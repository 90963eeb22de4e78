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
  readonly #polledProgress: ProjectionProgress
  #progress: ProjectionProgress
  #lease: Lease | undefined
  #timer: NodeJS.Timeout | undefined
  #pendingTransition: Promise<void> = Promise.resolve()
  #isStopped = true
  readonly #leaseInterruption: Interruption

  constructor(
    private readonly runner: Pick<ConsumerRunner, 'start' | 'stop' | 'progress' | 'counters'>,
    private readonly declaration: ModelDeclaration,
    private readonly reads: ReadStore,
    model: Pick<ReadModel, 'position'>,
    private readonly log: AppLogger,
  ) {
    this.#polledProgress = new PolledProgress(model)
    this.#progress = this.#polledProgress
    this.#leaseInterruption = new Interruption(`lease of ${declaration.name}`, log)
  }

  /**
   * Resolves after the first attempt to acquire the lease, or after 5 s if the read store hangs. Can be called again
   * after a stop.
   */
  async start(): Promise<void> {
    if (!this.#isStopped) return
    this.#isStopped = false
    this.#pendingTransition = this.#pendingTransition.then(() => this.#tryToAcquire())
    await settlesWithin(this.#pendingTransition, FIRST_ATTEMPT_TIMEOUT_MS)
  }

  /**
   * Resolves when nothing runs here any more and the lease is released, or after a few seconds if the read store hangs.
   */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await settlesWithin(this.#pendingTransition, STOP_TIMEOUT_MS)
    const lease = this.#lease
    if (lease === undefined) return
    this.#clearLease()
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

  waitForPosition(position: PositionOrStart, ms: number): Promise<boolean> {
    return this.#progress.waitForPosition(position, ms)
  }

  async #tryToAcquire(): Promise<void> {
    const lease = await this.#acquireLease()
    if (lease === undefined) return this.#scheduleAttempt()
    // Stopped meanwhile: let another process have the lease.
    if (this.#isStopped) return lease.release()
    this.#lease = lease
    this.runner.start()
    this.#progress = this.runner.progress
    void lease.lost.then(() => (this.#pendingTransition = this.#becomeFollower(lease)))
  }

  async #acquireLease(): Promise<Lease | undefined> {
    try {
      const lease = await this.reads.acquireLease(this.declaration)
      this.#leaseInterruption.end()
      return lease
    } catch (error) {
      this.#leaseInterruption.recordFailure(error)
      return undefined
    }
  }

  #scheduleAttempt(): void {
    if (!this.#isStopped)
      this.#timer = setTimeout(() => (this.#pendingTransition = this.#tryToAcquire()), LEASE_RETRY_MS).unref()
  }

  /** The lease was lost to another process. Writes of this one that are still under way can't overwrite newer ones. */
  async #becomeFollower(lostLease: Lease): Promise<void> {
    if (this.#isStopped || this.#lease !== lostLease) return
    this.log.warn({ model: this.declaration.name }, 'another process has taken over a projection')
    this.#clearLease()
    await this.runner.stop()
    this.#scheduleAttempt()
  }

  #clearLease(): void {
    this.#progress = this.#polledProgress
    this.#lease = undefined
  }
}
