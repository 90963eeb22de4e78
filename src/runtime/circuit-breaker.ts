import { setTimeout as pause } from 'node:timers/promises'

/** `half-open`: calls are rejected as in `open`, while one trial is under way. */
export const BREAKER_STATES = ['closed', 'open', 'half-open'] as const
type BreakerState = (typeof BREAKER_STATES)[number]

/** What a failed call says about the store: it is up; that is doubtful, so it is probed; it is down; or nothing. */
type Verdict = 'up' | 'doubtful' | 'down' | 'nothing'

/** Checks the store directly, when its state is doubtful and while the breaker is open. */
type Probe = {
  readonly ask: () => Promise<unknown>
  /** When the store last sent anything, in milliseconds of the monotonic clock; parts of a long response count. */
  readonly heardAt: () => number
  /** The reason for opening if the store does not respond. */
  readonly noResponseMessage: string
}

export type BreakerPolicy = {
  /** Display name, such as EventStoreDB. */
  readonly store: string
  /** Which of the store's calls this breaker protects. */
  readonly calls: string
  /** Milliseconds between opening, or a failed trial, and the next trial. */
  readonly resetTimeoutMs: number
  /** @param elapsedMs between the call and its failure */
  readonly verdict: (error: unknown, elapsedMs: number) => Verdict
  /** The error of rejected calls while open. @param reason why it opened */
  readonly refusal: (reason: Error) => Error
  /** If present, the probe is the trial that closes or opens the breaker; otherwise the next call is. */
  readonly probe?: Probe
}

/** Milliseconds between two health checks while calls are pending. */
const CHECK_INTERVAL_MS = 250
/** Consecutive health checks without a response before the store is probed, and before the breaker opens. */
const CHECKS_TO_PROBE = 4
const CHECKS_TO_OPEN = 12

/** Attempts of one probe, and milliseconds between them: a client reconnects after a lost connection. */
const PROBE_ATTEMPTS = 3
const PROBE_INTERVAL_MS = 50

/**
 * Rejects calls immediately while the store is unavailable, instead of letting each wait for a timeout. With a probe, a
 * doubtful failure or a second without any response triggers a probe; if the probe fails, or nothing arrives for 3 s,
 * the breaker opens and rejects pending calls. It counts health checks rather than time: a suspended process has not
 * missed responses.
 */
export class CircuitBreaker {
  /** How often it has opened. */
  openings = 0
  /** When the store last responded, in milliseconds of the monotonic clock. */
  answeredAt = performance.now()
  readonly #pendingCalls = new Set<(reason: Error) => void>()
  #openReason: Error | undefined
  /** When it opened, or the last trial ended. */
  #lastTrialAt = 0
  #isTrialRunning = false
  #pendingProbe: Promise<void> | undefined
  #checkTimer: NodeJS.Timeout | undefined
  #silentChecks = 0
  #lastHeardAt = Number.NEGATIVE_INFINITY
  #isStopped = false

  constructor(readonly policy: BreakerPolicy) {}

  get state(): BreakerState {
    if (this.#openReason === undefined) return 'closed'
    return this.#isTrialRunning ? 'half-open' : 'open'
  }

  /** The state after a probe that is under way; for callers whose call has just failed. */
  async settledState(): Promise<BreakerState> {
    const probing = this.#pendingProbe
    // If it opens meanwhile, the state shows it.
    if (this.state === 'closed' && probing !== undefined) await this.#rejectIfOpened(probing).catch(() => undefined)
    return this.state
  }

  /**
   * Calls the store unless the breaker is open.
   * @param abandonedError maps the reason to the error of this call, if the breaker opens while it is pending
   * @throws the refusal, or the call's error
   */
  call<Answer>(work: () => Promise<Answer>, abandonedError = this.policy.refusal): Promise<Answer> {
    const { probe, refusal, resetTimeoutMs } = this.policy
    if (this.#openReason === undefined)
      return probe === undefined ? this.#run(work) : this.#rejectIfOpened(this.#run(work), abandonedError)
    const isDue = probe === undefined && performance.now() - this.#lastTrialAt >= resetTimeoutMs
    if (this.#isTrialRunning || !isDue) return Promise.reject(refusal(this.#openReason))
    return this.#runTrial(() => this.#run(work))
  }

  /** Stops probes and health checks permanently. */
  stop(): void {
    this.#isStopped = true
    clearInterval(this.#checkTimer)
  }

  async #runTrial<Answer>(trial: () => Promise<Answer>): Promise<Answer> {
    this.#isTrialRunning = true
    try {
      return await trial()
    } finally {
      this.#isTrialRunning = false
      this.#lastTrialAt = performance.now()
    }
  }

  /** Health checks run while calls are pending. */
  #rejectIfOpened<Answer>(running: Promise<Answer>, abandonedError = this.policy.refusal): Promise<Answer> {
    if (this.#checkTimer === undefined && !this.#isStopped) {
      this.#silentChecks = 0
      this.#checkTimer = setInterval(() => this.#check(), CHECK_INTERVAL_MS).unref()
    }
    return new Promise((resolve, reject) => {
      const rejectCall = (reason: Error) => reject(abandonedError(reason))
      this.#pendingCalls.add(rejectCall)
      void running.finally(() => this.#pendingCalls.delete(rejectCall)).then(resolve, reject)
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
    this.#openReason = undefined
  }

  #open(error: unknown): void {
    if (this.#isStopped) return
    const wasClosed = this.#openReason === undefined
    const reason = error instanceof Error ? error : new Error(String(error))
    this.#openReason = reason
    this.#lastTrialAt = performance.now()
    for (const rejectCall of this.#pendingCalls) rejectCall(reason)
    this.#pendingCalls.clear()
    if (!wasClosed) return
    this.openings++
    if (this.policy.probe !== undefined) void this.#probeUntilClosed()
  }

  #check(): void {
    const { probe } = this.policy
    if (probe === undefined || this.#pendingCalls.size === 0) {
      clearInterval(this.#checkTimer)
      this.#checkTimer = undefined
      return
    }
    const heardAt = probe.heardAt()
    if (heardAt > this.#lastHeardAt) this.#silentChecks = 0
    this.#lastHeardAt = Math.max(heardAt, this.#lastHeardAt)
    this.#silentChecks++
    if (this.#silentChecks === CHECKS_TO_PROBE) void this.#probe()
    if (this.#silentChecks >= CHECKS_TO_OPEN) this.#open(new Error(probe.noResponseMessage))
  }

  async #probeUntilClosed(): Promise<void> {
    const { openings } = this
    const isStillOpen = () => this.#openReason !== undefined && this.openings === openings && !this.#isStopped
    while (isStillOpen()) {
      await pause(this.policy.resetTimeoutMs, undefined, { ref: false })
      if (isStillOpen()) await this.#runTrial(() => this.#probe())
    }
  }

  /** Never rejects. */
  #probe(): Promise<void> {
    this.#pendingProbe ??= this.#probeWithRetries().finally(() => (this.#pendingProbe = undefined))
    return this.#pendingProbe
  }

  async #probeWithRetries(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.policy.probe?.ask()
        return this.#close()
      } catch (error) {
        if (attempt === PROBE_ATTEMPTS || this.#openReason !== undefined) return this.#open(error)
        await pause(PROBE_INTERVAL_MS, undefined, { ref: false })
      }
    }
  }
}
