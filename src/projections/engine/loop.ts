import { settlesWithin } from '../../runtime/deadline.ts'
import type { AppLogger } from '../../runtime/logger.ts'
import { Interruption } from '../../runtime/outages.ts'
import { InterruptibleSleep } from '../../runtime/interruptible-sleep.ts'

/** After a store's fault: first pause and longest, in milliseconds. A store's fault is tried for ever. */
const INITIAL_BACKOFF_MS = 50
const MAX_BACKOFF_MS = 2_000

/** Milliseconds after which what runs without a fault counts as mended. Longer than a store's calls take to give up. */
const STABLE_AFTER_MS = 10_000

/** Milliseconds that a stop waits for the run under way, whatever that waits for. */
const DEFAULT_STOP_TIMEOUT_MS = 3_000

/**
 * One run of the work. It ends soon after its signal was aborted; what it leaves undone, the next run does, in this
 * process or another one. `done` where there is nothing left to run for.
 */
export type LoopBody = (signal: AbortSignal) => Promise<void | 'done'>

export type LoopOptions = {
  /** Milliseconds between the end of a run and the next one; without it, runs follow each other but for a moment. */
  readonly intervalMs?: number
  /** Milliseconds that a stop waits for the run under way, unless 3 s. */
  readonly stopTimeoutMs?: number
}

/** What it did since the process began. */
export type RunCounters = { readonly name: string; readonly runs: number; readonly failures: number }

/** The signal of what nothing stops. */
export const neverAborted = (): AbortSignal => new AbortController().signal

/** From a start to the stop behind it. */
type LoopLifetime = { isStopped: boolean; controller: AbortController }

/**
 * Work that is done again and again until it is stopped: what follows the log, and is taken up again whenever it fails,
 * and what is done every few seconds. There is one run at a time, also after a stop that did not wait for the last one's
 * end, and each has a signal of its own: whatever was stopped can start again.
 */
export class Loop {
  readonly #pause = new InterruptibleSleep()
  readonly #interruption: Interruption
  #lifetime: LoopLifetime | undefined
  #done: Promise<void> = Promise.resolve()
  #wanted = false
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

  /** Again, too, after a stop. */
  start(): void {
    if (this.#lifetime !== undefined) return
    const life = { isStopped: false, controller: new AbortController() }
    this.#lifetime = life
    this.#done = this.#done.then(() => this.#runUntilStopped(life))
  }

  /** Does not wait for its time: the next run begins now, or right behind the one under way. */
  wake(): void {
    this.#wanted = true
    this.#pause.wake()
  }

  /** Resolves when the run under way has ended, or after 3 s without that. */
  async stop(): Promise<void> {
    const life = this.#lifetime
    this.#lifetime = undefined
    if (life !== undefined) {
      life.isStopped = true
      life.controller.abort(new LoopStopError(this.name))
      this.#pause.wake()
    }
    const { stopTimeoutMs = DEFAULT_STOP_TIMEOUT_MS } = this.options
    if (await settlesWithin(this.#done, stopTimeoutMs)) return
    this.log.warn(
      { name: this.name, milliseconds: stopTimeoutMs },
      'did not end in time when it was stopped; not waited for',
    )
  }

  async #runUntilStopped(life: LoopLifetime): Promise<void> {
    let pause = INITIAL_BACKOFF_MS
    while (!life.isStopped) {
      this.#wanted = false
      const started = performance.now()
      const outcome = await this.#once(life)
      if (outcome === 'done') {
        if (this.#lifetime === life) this.#lifetime = undefined
        return
      }
      if (outcome === 'ended' || performance.now() - started > MAX_BACKOFF_MS) pause = INITIAL_BACKOFF_MS
      const { intervalMs = 0 } = this.options
      const rest =
        outcome === 'ended'
          ? Math.max(intervalMs, INITIAL_BACKOFF_MS)
          : Math.max(pause, Math.min(intervalMs, MAX_BACKOFF_MS))
      pause = Math.min(pause * 2, MAX_BACKOFF_MS)
      if (!life.isStopped && !this.#wanted) await this.#pause.sleep(rest)
    }
  }

  async #once(life: LoopLifetime): Promise<'done' | 'ended' | 'failed'> {
    life.controller = new AbortController()
    const mended = setTimeout(() => this.#interruption.end(), STABLE_AFTER_MS)
    this.#runs++
    try {
      const outcome = await this.run(life.controller.signal)
      this.#interruption.end()
      return outcome ?? 'ended'
    } catch (error) {
      if (life.isStopped) return 'ended'
      this.#failures++
      this.#interruption.recordFailure(error)
      return 'failed'
    } finally {
      clearTimeout(mended)
    }
  }
}

/** Ends a wait that the process, or this part of it, will not see the end of. */
class LoopStopError extends Error {
  override readonly name = 'Stopped'
  constructor(what: string) {
    super(`${what} was stopped`)
  }
}

/** Something that is done by the clock: expiry, sweeping, mail that is due. Every process with the role does it. */
export type ScheduledJob<Tools> = {
  /** Its counters are kept under it. */
  readonly name: string
  /** Milliseconds between the end of a round and the next one, unless it is woken before. */
  readonly intervalMs: number
  /** How many rounds may be under way at once; one unless told. */
  readonly concurrency?: number
  /** Milliseconds that a stop waits for the rounds under way, unless 3 s. */
  readonly stopTimeoutMs?: number
  /** One round. @param tools what it works with */
  readonly createRound: (tools: Tools) => LoopBody
  /** Done once behind the last round, when it is stopped. */
  readonly onStop?: (tools: Tools) => Promise<void>
}

/** Declares what is done by the clock. */
export const defineScheduledJob = <Tools>(declared: ScheduledJob<Tools>): ScheduledJob<Tools> => declared
