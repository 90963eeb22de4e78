import { setTimeout as pause } from 'node:timers/promises'

/** `half-open`: calls are refused as when it is open, and one trial is under way. */
export const BREAKER_STATES = ['closed', 'open', 'half-open'] as const
export type BreakerState = (typeof BREAKER_STATES)[number]

/** What a call's failure says of the store: it is there; that is doubtful, so it is probed; it is down; or nothing. */
export type Verdict = 'up' | 'doubtful' | 'down' | 'nothing'

/** Asks the store itself whether it is there, while nobody knows and as long as it is away. */
export type Probe = {
  readonly ask: () => Promise<unknown>
  /** When the store last said anything, in milliseconds of the monotonic clock: a part of a long answer counts. */
  readonly heardAt: () => number
  /** What the breaker opens for when the store says nothing. */
  readonly noResponseMessage: string
}

export type BreakerPolicy = {
  /** As people call it, such as EventStoreDB. */
  readonly store: string
  /** Which calls of the store pass here. */
  readonly calls: string
  /** Milliseconds from the opening, or from a trial that failed, to the next trial. */
  readonly resetTimeoutMs: number
  /** @param elapsedMs between the call and its failure */
  readonly verdict: (error: unknown, elapsedMs: number) => Verdict
  /** What calls are refused with while it is open. @param reason what it has opened for */
  readonly refusal: (reason: Error) => Error
  /** Where there is one, it is the trial, and closes and opens the breaker; else the trial is the next call. */
  readonly probe?: Probe
}

/** Milliseconds between two health checks, while somebody waits for an answer. */
const CHECK_MS = 250
/** Consecutive health checks without an answer to anybody before the store is probed, and before the breaker opens. */
const CHECKS_TO_PROBE = 4
const CHECKS_TO_OPEN = 12

/** Requests of one probe behind a failure, and milliseconds between them: the client reconnects where a connection was lost. */
const ATTEMPTS = 3
const ATTEMPT_MS = 50

/**
 * Refuses calls at once while the store behind it is away, instead of letting each find that out by waiting. With a probe,
 * a failed call or a second without any answer has the store probed; where that fails, or nothing comes for 3 s, the breaker
 * opens, and pending calls are rejected. Health checks are counted instead of milliseconds: a process that was suspended itself
 * has missed no answer.
 */
export class CircuitBreaker {
  /** How often it has opened. */
  openings = 0
  /** When the store last answered anything, in milliseconds of the monotonic clock. */
  answeredAt = performance.now()
  readonly #waiting = new Set<(reason: Error) => void>()
  #reason: Error | undefined
  /** When it opened, or the last trial ended. */
  #triedAt = 0
  #isTrying = false
  #probing: Promise<void> | undefined
  #checking: NodeJS.Timeout | undefined
  #silentChecks = 0
  #heardAt = Number.NEGATIVE_INFINITY
  #isStopped = false

  constructor(readonly policy: BreakerPolicy) {}

  get state(): BreakerState {
    if (this.#reason === undefined) return 'closed'
    return this.#isTrying ? 'half-open' : 'open'
  }

  /** The state once a running probe has ended: callers ask for it after a failed call. */
  async settledState(): Promise<BreakerState> {
    const probing = this.#probing
    // That it opens meanwhile is what the state says.
    if (this.state === 'closed' && probing !== undefined) await this.#rejectIfOpened(probing).catch(() => undefined)
    return this.state
  }

  /**
   * Calls the store, unless it is away.
   * @param abandoned what the call fails with when a probe finds meanwhile that the store is away
   * @throws the refusal, and what the call does
   */
  call<Answer>(work: () => Promise<Answer>, abandoned = this.policy.refusal): Promise<Answer> {
    const { probe, refusal, resetTimeoutMs } = this.policy
    if (this.#reason === undefined)
      return probe === undefined ? this.#run(work) : this.#rejectIfOpened(this.#run(work), abandoned)
    const isDue = probe === undefined && performance.now() - this.#triedAt >= resetTimeoutMs
    if (this.#isTrying || !isDue) return Promise.reject(refusal(this.#reason))
    return this.#try(() => this.#run(work))
  }

  /** For good: nothing is probed any more. */
  stop(): void {
    this.#isStopped = true
    clearInterval(this.#checking)
  }

  async #try<Answer>(trial: () => Promise<Answer>): Promise<Answer> {
    this.#isTrying = true
    try {
      return await trial()
    } finally {
      this.#isTrying = false
      this.#triedAt = performance.now()
    }
  }

  /** Health checks run while calls are pending. */
  #rejectIfOpened<Answer>(running: Promise<Answer>, abandoned = this.policy.refusal): Promise<Answer> {
    if (this.#checking === undefined && !this.#isStopped) {
      this.#silentChecks = 0
      this.#checking = setInterval(() => this.#check(), CHECK_MS).unref()
    }
    return new Promise((resolve, reject) => {
      const giveUp = (reason: Error) => reject(abandoned(reason))
      this.#waiting.add(giveUp)
      void running.finally(() => this.#waiting.delete(giveUp)).then(resolve, reject)
    })
  }

  async #run<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    const calledAt = performance.now()
    try {
      const answer = await work()
      this.#close()
      return answer
    } catch (error) {
      const verdict = this.policy.verdict(error, performance.now() - calledAt)
      if (verdict === 'up') this.#close()
      else if (verdict === 'down') this.#open(error)
      else if (verdict === 'doubtful') void this.#probe()
      throw error
    }
  }

  #close(): void {
    this.answeredAt = performance.now()
    this.#silentChecks = 0
    this.#reason = undefined
  }

  #open(error: unknown): void {
    if (this.#isStopped) return
    const wasClosed = this.#reason === undefined
    const reason = error instanceof Error ? error : new Error(String(error))
    this.#reason = reason
    this.#triedAt = performance.now()
    for (const giveUp of this.#waiting) giveUp(reason)
    this.#waiting.clear()
    if (!wasClosed) return
    this.openings++
    if (this.policy.probe !== undefined) void this.#probeUntilClosed()
  }

  #check(): void {
    const { probe } = this.policy
    if (probe === undefined || this.#waiting.size === 0) {
      clearInterval(this.#checking)
      this.#checking = undefined
      return
    }
    const heardAt = probe.heardAt()
    if (heardAt > this.#heardAt) this.#silentChecks = 0
    this.#heardAt = Math.max(heardAt, this.#heardAt)
    this.#silentChecks++
    if (this.#silentChecks === CHECKS_TO_PROBE) void this.#probe()
    if (this.#silentChecks >= CHECKS_TO_OPEN) this.#open(new Error(probe.noResponseMessage))
  }

  async #probeUntilClosed(): Promise<void> {
    const { openings } = this
    const isStillOpen = () => this.#reason !== undefined && this.openings === openings && !this.#isStopped
    while (isStillOpen()) {
      await pause(this.policy.resetTimeoutMs, undefined, { ref: false })
      if (isStillOpen()) await this.#try(() => this.#probe())
    }
  }

  /** It never rejects. */
  #probe(): Promise<void> {
    this.#probing ??= this.#probeWithRetries().finally(() => (this.#probing = undefined))
    return this.#probing
  }

  async #probeWithRetries(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.policy.probe?.ask()
        return this.#close()
      } catch (error) {
        if (attempt === ATTEMPTS || this.#reason !== undefined) return this.#open(error)
        await pause(ATTEMPT_MS, undefined, { ref: false })
      }
    }
  }
}
