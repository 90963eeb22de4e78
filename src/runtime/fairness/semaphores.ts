type QueuedAcquire = { readonly grant: () => void; readonly refuse: (reason: Error) => void }

/** Limits concurrency; waiters get permits in order of arrival. */
export class Semaphore {
  readonly #waiting: QueuedAcquire[] = []
  #free: number

  constructor(permits: number) {
    this.#free = permits
  }

  /**
   * Runs an action with a permit.
   * @throws the action's error, or the reason of `rejectWaiting`
   */
  async run<Result>(action: () => Promise<Result>): Promise<Result> {
    await this.#acquire()
    try {
      return await action()
    } finally {
      this.#release()
    }
  }

  /** Rejects all current waiters, when none of them would succeed. */
  rejectWaiting(reason: Error): void {
    for (const { refuse } of this.#waiting.splice(0)) refuse(reason)
  }

  async #acquire(): Promise<void> {
    if (this.#free === 0) return new Promise((grant, refuse) => this.#waiting.push({ grant, refuse }))
    this.#free--
  }

  #release(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next.grant()
  }
}

/** A waiter for a permit, counted under names such as an account and an address; with `isPriority`, before others. */
export type PermitRequest = { readonly names: readonly string[]; readonly isPriority: boolean }

type QueuedPermitRequest = PermitRequest & { readonly grant: (release: () => void) => void }

type PermitUsage = { running: number; waiting: number; served: number }

/** Consecutive permits for priority waiters before one other waiter gets one, so that the others do not starve. */
const MAX_CONSECUTIVE_PRIORITY = 3

/**
 * Limits concurrency fairly. The next permit goes to the waiter whose names hold the fewest permits, then to the one
 * served the longest ago, then by arrival: a client with a hundred requests does not delay one with a single request.
 */
export class FairSemaphore {
  readonly #waiting: QueuedPermitRequest[] = []
  readonly #usageByName = new Map<string, PermitUsage>()
  #free: number
  #served = 0
  #consecutivePriority = 0

  constructor(permits: number) {
    this.#free = permits
  }

  get hasWaiters(): boolean {
    return this.#waiting.length > 0
  }

  /** Resolves with a function that releases the permit, once. */
  acquire(waiter: PermitRequest): Promise<() => void> {
    return new Promise((grant) => {
      for (const name of waiter.names) this.#usageOf(name).waiting++
      this.#waiting.push({ ...waiter, grant })
      this.#next()
    })
  }

  #next(): void {
    while (this.#free > 0 && this.#waiting.length > 0) {
      const next = this.#pickNext()
      if (next === undefined) return
      this.#waiting.splice(this.#waiting.indexOf(next), 1)
      this.#grant(next)
    }
  }

  #grant({ names, isPriority, grant }: QueuedPermitRequest): void {
    this.#free--
    this.#consecutivePriority = isPriority ? this.#consecutivePriority + 1 : 0
    this.#served++
    for (const name of names) {
      const usage = this.#usageOf(name)
      usage.waiting--
      usage.running++
      usage.served = this.#served
    }
    let released = false
    grant(() => {
      if (!released) this.#release(names)
      released = true
    })
  }

  #release(names: readonly string[]): void {
    this.#free++
    for (const name of names) {
      const usage = this.#usageOf(name)
      usage.running--
      if (usage.running + usage.waiting === 0) this.#usageByName.delete(name)
    }
    this.#next()
  }

  #pickNext(): QueuedPermitRequest | undefined {
    const priorityRequests = this.#waiting.filter(({ isPriority }) => isPriority)
    const otherRequests = this.#waiting.filter(({ isPriority }) => !isPriority)
    const isPriorityNext =
      priorityRequests.length > 0 &&
      (otherRequests.length === 0 || this.#consecutivePriority < MAX_CONSECUTIVE_PRIORITY)
    return this.#leastServed(isPriorityNext ? priorityRequests : otherRequests)
  }

  #leastServed(waiting: readonly QueuedPermitRequest[]): QueuedPermitRequest | undefined {
    let best: { readonly waiting: QueuedPermitRequest; readonly usage: readonly number[] } | undefined
    for (const each of waiting) {
      const usage = [...this.#sortedUsage(each, 'running'), ...this.#sortedUsage(each, 'served')]
      if (best === undefined || isLess(usage, best.usage)) best = { waiting: each, usage }
    }
    return best?.waiting
  }

  /**
   * Values of all names, largest first: a client that shares only an address with a busy one precedes a client that
   * also shares its account.
   */
  #sortedUsage({ names }: PermitRequest, counter: 'running' | 'served'): number[] {
    return names.map((name) => this.#usageOf(name)[counter]).sort((a, b) => b - a)
  }

  #usageOf(name: string): PermitUsage {
    const known = this.#usageByName.get(name)
    if (known !== undefined) return known
    const usage = { running: 0, waiting: 0, served: 0 }
    this.#usageByName.set(name, usage)
    return usage
  }
}

/** Compares lexicographically. */
function isLess(some: readonly number[], others: readonly number[]): boolean {
  const at = some.findIndex((one, index) => one !== others[index])
  return at >= 0 && (some[at] ?? 0) < (others[at] ?? 0)
}
