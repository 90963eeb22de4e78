/** Milliseconds on the watcher's own clock. */
export type Lifetimes = {
  /** Silence after which it is made sure that the store takes writes at all. */
  readonly doubted: number
  /** Silence after which a holder has ended. */
  readonly ended: number
  /** As much counts between two looks at most: a watcher that stood still itself has watched nobody meanwhile. */
  readonly look: number
}

type Watched = {
  readonly sign: string
  readonly at: number
  readonly silence: number
  readonly sureFrom: number | undefined
}

/**
 * Watches whether those who hold something still live: each changes its sign again and again, and one whose sign stands
 * still for long enough has ended. Only the watcher's own clock counts, so no two machines' clocks are compared, and only
 * time in which the holder could have given a sign: while the store is away or takes no writes, a living one is silent too.
 * So nobody has ended before a write of the watcher was acknowledged, and a while after that.
 */
export class SignsOfLife {
  readonly #watched = new Map<string, Watched>()

  /** @param now milliseconds that never go back */
  constructor(
    private readonly times: Lifetimes,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /**
   * One look, of many.
   * @returns `doubted`: write something, and tell by `sure` that it was acknowledged
   */
  look(what: string, sign: string): 'alive' | 'doubted' | 'ended' {
    const now = this.now()
    const before = this.#watched.get(what)
    if (before?.sign !== sign) {
      this.#watched.set(what, { sign, at: now, silence: 0, sureFrom: undefined })
      return 'alive'
    }
    const silence = before.silence + Math.min(now - before.at, this.times.look)
    this.#watched.set(what, { ...before, at: now, silence })
    const { doubted, ended } = this.times
    if (before.sureFrom === undefined) return silence >= doubted ? 'doubted' : 'alive'
    return silence - before.sureFrom >= ended - doubted ? 'ended' : 'alive'
  }

  /** The store takes writes: from here on silence counts. */
  sure(what: string): void {
    const watched = this.#watched.get(what)
    if (watched !== undefined) this.#watched.set(what, { ...watched, sureFrom: watched.silence })
  }

  /** The store was away, or is: whoever is silent may live. */
  beginAnew(): void {
    this.#watched.clear()
  }

  /** It is held no more. */
  forget(what: string): void {
    this.#watched.delete(what)
  }
}
