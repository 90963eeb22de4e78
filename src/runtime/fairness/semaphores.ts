type QueuedAcquire = { readonly grant: () => void; readonly refuse: (reason: Error) => void }

/** So many have a permit at a time; the others wait for one in the order in which they came. */
export class Semaphore {
  readonly #waiting: QueuedAcquire[] = []
  #free: number

  constructor(permits: number) {
    this.#free = permits
  }

  /**
   * Acts when a permit is free, and releases it at the end.
   * @throws what the action throws, or what `refuse` says to who still waits
   */
  async run<Result>(action: () => Promise<Result>): Promise<Result> {
    await this.#acquire()
    try {
      return await action()
    } finally {
      this.#release()
    }
  }

  /** Ends the waiting of all who wait now, where none of them would fare better. */
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

/** Who waits for a permit: counted under some names, such as an account and an address. */
export type PermitRequest = { readonly names: readonly string[]; readonly first: boolean }

type QueuedPermitRequest = PermitRequest & { readonly grant: (release: () => void) => void }

/** What one name has at the moment. */
type PermitUsage = { running: number; waiting: number; served: number }

/** So many of those who go first are let in before one of the others is, where any waits: they come late, not never. */
const MAX_CONSECUTIVE_FIRST = 3

/**
 * So many have a permit at a time. Of those who wait the next one goes to who has the fewest now, then to who had one the
 * longest ago, then to who came first: one with a hundred wishes holds up nobody who has one.
 */
export class FairSemaphore {
  readonly #waiting: QueuedPermitRequest[] = []
  readonly #usageByName = new Map<string, PermitUsage>()
  #free: number
  #served = 0
  #consecutiveFirst = 0

  constructor(permits: number) {
    this.#free = permits
  }

  /** True where somebody waits for a permit. */
  get hasWaiters(): boolean {
    return this.#waiting.length > 0
  }

  /** Resolves when a permit is free for this waiter; the function that comes back releases it, once. */
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

  #grant({ names, first, grant }: QueuedPermitRequest): void {
    this.#free--
    this.#consecutiveFirst = first ? this.#consecutiveFirst + 1 : 0
    this.#served++
    for (const name of names) {
      const track = this.#usageOf(name)
      track.waiting--
      track.running++
      track.served = this.#served
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
      const track = this.#usageOf(name)
      track.running--
      if (track.running + track.waiting === 0) this.#usageByName.delete(name)
    }
    this.#next()
  }

  #pickNext(): QueuedPermitRequest | undefined {
    const firsts = this.#waiting.filter(({ first }) => first)
    const others = this.#waiting.filter(({ first }) => !first)
    const goFirst = firsts.length > 0 && (others.length === 0 || this.#consecutiveFirst < MAX_CONSECUTIVE_FIRST)
    return this.#leastServed(goFirst ? firsts : others)
  }

  #leastServed(waiting: readonly QueuedPermitRequest[]): QueuedPermitRequest | undefined {
    let best: { readonly waiting: QueuedPermitRequest; readonly had: readonly number[] } | undefined
    for (const each of waiting) {
      const had = [...this.#most(each, 'running'), ...this.#most(each, 'served')]
      if (best === undefined || isLess(had, best.had)) best = { waiting: each, had }
    }
    return best?.waiting
  }

  /** Of each name, the largest first: who shares an address with somebody goes before those who share its account too. */
  #most({ names }: PermitRequest, of: 'running' | 'served'): number[] {
    return names.map((name) => this.#usageOf(name)[of]).sort((a, b) => b - a)
  }

  #usageOf(name: string): PermitUsage {
    const known = this.#usageByName.get(name)
    if (known !== undefined) return known
    const track = { running: 0, waiting: 0, served: 0 }
    this.#usageByName.set(name, track)
    return track
  }
}

/** The first that differs decides. */
function isLess(some: readonly number[], others: readonly number[]): boolean {
  const at = some.findIndex((one, index) => one !== others[index])
  return at >= 0 && (some[at] ?? 0) < (others[at] ?? 0)
}
