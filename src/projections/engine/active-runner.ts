import type { AppLogger } from '../../runtime/logger.ts'
import { Interruption } from '../../runtime/outages.ts'
import { settlesWithin } from '../../runtime/deadline.ts'
import type { PositionOrStart } from '../../stores/ports/event-store.ts'
import type { Lease, ModelDeclaration, ReadModel, ReadStore } from '../../stores/ports/read-store.ts'
import { PolledProgress, type ProjectionProgress } from './progress.ts'
import type { RunCounters } from './loop.ts'
import type { ConsumerRunner } from './runner.ts'

/** Milliseconds between two tries to become the active runner: hand-over takes no longer. */
const LEASE_RETRY_MS = 500

/** Milliseconds that a start waits for its first try, and a stop for what is under way and for giving the lease back. */
const FIRST_ATTEMPT_TIMEOUT_MS = 5_000
const STOP_TIMEOUT_MS = 2_000

/**
 * One runner among the processes of an installation: the one that holds the lease runs, the others follow its
 * checkpoint and take over when it ends. One that stood still for so long that another took over follows that one from
 * then on. A process whose role is not to project only follows.
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
    /** What the lease is for. */
    private readonly declaration: ModelDeclaration,
    private readonly reads: ReadStore,
    model: Pick<ReadModel, 'position'>,
    private readonly log: AppLogger,
  ) {
    this.#followed = new PolledProgress(model)
    this.#progress = this.#followed
    this.#asking = new Interruption(`lease of ${declaration.name}`, log)
  }

  /** Resolves after the first try to become the active runner, or after a while where the read store hangs. Again, too, after a stop. */
  async start(): Promise<void> {
    if (!this.#stopped) return
    this.#stopped = false
    this.#trying = this.#trying.then(() => this.#try())
    await settlesWithin(this.#trying, FIRST_ATTEMPT_TIMEOUT_MS)
  }

  /** Resolves when nothing runs here any more and others may, or after a few seconds where the read store hangs. */
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

  /** How far it is where it runs here; undefined where another process runs it. */
  get position(): PositionOrStart | undefined {
    return this.#lease === undefined ? undefined : this.runner.progress.position
  }

  waitForPosition(position: PositionOrStart, ms: number): boolean | Promise<boolean> {
    return this.#progress.waitForPosition(position, ms)
  }

  async #try(): Promise<void> {
    const lease = await this.#ask()
    if (lease === undefined) return this.#tryLater()
    // Stopped while it was asked for: it is another one's.
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

  /** Another process runs it now; what this one has under way changes nothing that is newer. */
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
