import { settlesWithin } from '../../runtime/deadline.ts'
import type { AppLogger } from '../../runtime/logger.ts'
import { Interruption } from '../../runtime/outages.ts'
import { InterruptibleSleep } from '../../runtime/interruptible-sleep.ts'
import { ReadModelNotBuilt } from '../../stores/ports/read-store.ts'

/** Milliseconds of back-off after a failure: the first, doubled up to the maximum. Retries have no limit. */
const INITIAL_BACKOFF_MS = 50
const MAX_BACKOFF_MS = 2_000

/**
 * Milliseconds after which a run without a failure counts as recovered. Longer than the timeouts of a store's calls.
 */
const STABLE_AFTER_MS = 10_000

/** Milliseconds that `stop` waits for the run under way. */
const DEFAULT_STOP_TIMEOUT_MS = 3_000

/**
 * One run of the work. It ends soon after its signal is aborted; the next run, here or in another process, does what is
 * left. Resolves to 'done' if there is nothing left to run for.
 */
export type LoopBody = (signal: AbortSignal) => Promise<void | 'done'>

type LoopOptions = {
  /** Milliseconds between the end of a run and the next one. Default: 50. */
  readonly intervalMs?: number
  /** Milliseconds that `stop` waits for the run under way. Default: 3 000. */
  readonly stopTimeoutMs?: number
}

/** Counts since the process started. */
export type RunCounters = { readonly name: string; readonly runs: number; readonly failures: number }

/** The signal of work that is never stopped. */
export const neverAborted = (): AbortSignal => new AbortController().signal

type LoopLifetime = { isStopped: boolean; controller: AbortController }

/**
 * Repeats a task until it is stopped: a subscription that restarts after a failure, or a job on a timer. Only one run
 * is under way at a time, even after a stop that timed out. Each start has its own abort signal, so that a loop can be
 * started again.
 */
export class Loop {
  readonly #pause = new InterruptibleSleep()
  readonly #interruption: Interruption
  #lifetime: LoopLifetime | undefined
  #completion: Promise<void> = Promise.resolve()
  #isWoken = false
  #runs = 0
  #failures = 0

  constructor(
    private readonly name: string,
    private readonly log: AppLogger,
    private readonly run: LoopBody,
    private readonly options: LoopOptions = {},
  ) {
    this.#interruption = new Interruption(name, log)
  }

  get counters(): RunCounters {
    return { name: this.name, runs: this.#runs, failures: this.#failures }
  }

  /** Can be called again after a stop. */
  start(): void {
    if (this.#lifetime !== undefined) return
    const lifetime = { isStopped: false, controller: new AbortController() }
    this.#lifetime = lifetime
    this.#completion = this.#completion.then(() => this.#runUntilStopped(lifetime))
  }

  /** Starts the next run now, or directly after the one under way. */
  wake(): void {
    this.#isWoken = true
    this.#pause.wake()
  }

  /** Resolves when the run under way has ended, or after `stopTimeoutMs`. */
  async stop(): Promise<void> {
    const lifetime = this.#lifetime
    this.#lifetime = undefined
    if (lifetime !== undefined) {
      lifetime.isStopped = true
      lifetime.controller.abort(new LoopStopError(this.name))
      this.#pause.wake()
    }
    const { stopTimeoutMs = DEFAULT_STOP_TIMEOUT_MS } = this.options
    if (await settlesWithin(this.#completion, stopTimeoutMs)) return
    this.log.warn(
      { name: this.name, milliseconds: stopTimeoutMs },
      'did not end in time after a stop; no longer waiting for it',
    )
  }

  async #runUntilStopped(lifetime: LoopLifetime): Promise<void> {
    let backoffMs = INITIAL_BACKOFF_MS
    while (!lifetime.isStopped) {
      this.#isWoken = false
      const startedAt = performance.now()
      const outcome = await this.#runOnce(lifetime)
      if (outcome === 'done') {
        if (this.#lifetime === lifetime) this.#lifetime = undefined
        return
      }
      if (outcome === 'ended' || performance.now() - startedAt > MAX_BACKOFF_MS) backoffMs = INITIAL_BACKOFF_MS
      const { intervalMs = 0 } = this.options
      const delayMs =
        outcome === 'ended'
          ? Math.max(intervalMs, INITIAL_BACKOFF_MS)
          : Math.max(backoffMs, Math.min(intervalMs, MAX_BACKOFF_MS))
      backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS)
      if (!lifetime.isStopped && !this.#isWoken) await this.#pause.sleep(delayMs)
    }
  }

  async #runOnce(lifetime: LoopLifetime): Promise<'done' | 'ended' | 'failed'> {
    lifetime.controller = new AbortController()
    const recoveryTimer = setTimeout(() => this.#interruption.end(), STABLE_AFTER_MS)
    this.#runs++
    try {
      const outcome = await this.run(lifetime.controller.signal)
      this.#interruption.end()
      return outcome ?? 'ended'
    } catch (error) {
      // A model is not built yet at the first start and after an upgrade: its work is left to the next run.
      if (lifetime.isStopped || error instanceof ReadModelNotBuilt) return 'ended'
      this.#failures++
      this.#interruption.recordFailure(error)
      return 'failed'
    } finally {
      clearTimeout(recoveryTimer)
    }
  }
}

/** The abort reason of a loop's signal. */
class LoopStopError extends Error {
  override readonly name = 'LoopStopError'
  constructor(loopName: string) {
    super(`${loopName} was stopped`)
  }
}

/** A job on a timer, such as expiry, sweeping or mail that is due. Every process with the role runs it. */
export type ScheduledJob<Tools> = {
  /** Identifies its counters. */
  readonly name: string
  /** Milliseconds between the end of a round and the next one, unless woken earlier. */
  readonly intervalMs: number
  /** Rounds that may run concurrently. Default: 1. */
  readonly concurrency?: number
  /** Milliseconds that `stop` waits for the rounds under way. Default: 3 000. */
  readonly stopTimeoutMs?: number
  readonly createRound: (tools: Tools) => LoopBody
  /** Runs once after the last round when the job is stopped. */
  readonly onStop?: (tools: Tools) => Promise<void>
}

export const defineScheduledJob = <Tools>(job: ScheduledJob<Tools>): ScheduledJob<Tools> => job
