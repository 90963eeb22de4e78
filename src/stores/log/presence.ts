import { setTimeout as pause } from 'node:timers/promises'
import { LogClosed, OutcomeUnknown, StoreUnavailable, WrongRevision } from '../ports/event-store.ts'

/** Milliseconds. Tests shorten them. */
export type Looks = {
  /** Between two looks at whether anything was answered, while somebody waits. */
  readonly every: number
  /** Between two tries to reach a log that is away. */
  readonly again: number
}

const LOOKS: Looks = { every: 250, again: 250 }

/** Looks without an answer to anybody after which the log is asked for its head, and after which it is away. */
const DOUBTED = 4
const AWAY = 12

/** Times that the head is asked for behind a failure, and milliseconds between them: a lost connection is made anew. */
const TRIES = 3
const RECONNECTED = 50

/** What is told to whoever waits for an answer when the log is found to be away. */
type GiveUp = (fault: StoreUnavailable) => void

/** What is asked of a server's log. */
export type Asked = {
  /** As it is called in what is told. */
  readonly server: string
  readonly head: () => Promise<unknown>
  /** When it last said anything, in milliseconds of the monotonic clock. */
  readonly heardAt: () => number
}

/**
 * Whether a log is there, as its calls tell: after one that failed, and after a second in which nobody
 * was answered, the log is asked for its head; where that fails, or nothing comes for 3 s, it is away. Who waits then is
 * told so, and so is at once whoever asks from then on, until it has told its head again, for which it is asked four times a
 * second. Looks are counted instead of milliseconds: a process that stood still itself has missed no answer.
 */
export class Presence {
  readonly #waiting = new Set<GiveUp>()
  #timer: NodeJS.Timeout | undefined
  #looks = 0
  #answeredAt = performance.now()
  #heardAt = Number.NEGATIVE_INFINITY
  #fault: StoreUnavailable | undefined
  #asking: Promise<boolean> | undefined
  #stopped = false

  constructor(
    private readonly log: Asked,
    private readonly looks: Looks = LOOKS,
  ) {}

  /** When it last answered anything, in milliseconds of the monotonic clock. */
  get answeredAt(): number {
    return this.#answeredAt
  }

  /** Whether it is away, for who has met a failure: what that comes of is known when this resolves. */
  async isAway(): Promise<boolean> {
    const asking = this.#asking
    if (this.#fault !== undefined || asking === undefined) return this.#fault !== undefined
    return new Promise((resolve) => {
      const giveUp = () => resolve(true)
      this.#waiting.add(giveUp)
      this.#watch()
      const over = () => this.#waiting.delete(giveUp)
      void asking.then((isThere) => resolve(!isThere)).finally(over)
    })
  }

  stop(): void {
    this.#stopped = true
    clearInterval(this.#timer)
  }

  /**
   * Makes a call, unless the log is known to be away.
   * @param left what it fails with when the log is found to be away meanwhile
   * @throws StoreUnavailable, and what the call does
   */
  ask<Answer>(call: () => Promise<Answer>, left = unavailable): Promise<Answer> {
    if (this.#fault !== undefined) return Promise.reject(unavailable(this.#fault))
    return new Promise((resolve, reject) => {
      const giveUp = (fault: StoreUnavailable) => reject(left(fault))
      this.#waiting.add(giveUp)
      this.#watch()
      void this.#called(call, giveUp).then(resolve, reject)
    })
  }

  async #called<Answer>(call: () => Promise<Answer>, giveUp: GiveUp): Promise<Answer> {
    try {
      const answer = await call()
      this.#answered()
      return answer
    } catch (error) {
      if (isOfTheLog(error)) void this.#find()
      else if (error instanceof WrongRevision) this.#answered()
      throw error
    } finally {
      this.#waiting.delete(giveUp)
    }
  }

  #watch(): void {
    if (this.#timer !== undefined || this.#stopped) return
    this.#looks = 0
    this.#timer = setInterval(() => this.#look(), this.looks.every).unref()
  }

  #look(): void {
    if (this.#waiting.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
      return
    }
    if (this.#isHeard()) this.#looks = 0
    this.#looks++
    if (this.#looks === DOUBTED) void this.#find()
    if (this.#looks >= AWAY)
      this.#leave(new StoreUnavailable(`${this.log.server}: the log does not answer`, { store: this.log.server }))
  }

  /** Something came since the last look: a part of an answer that takes long, such as a head far back. */
  #isHeard(): boolean {
    const heardAt = this.log.heardAt()
    const isNew = heardAt > this.#heardAt
    this.#heardAt = Math.max(heardAt, this.#heardAt)
    return isNew
  }

  #answered(): void {
    this.#answeredAt = performance.now()
    this.#looks = 0
    this.#fault = undefined
  }

  /** Resolves whether the log is there; it never rejects. */
  #find(): Promise<boolean> {
    this.#asking ??= this.#askHead().finally(() => (this.#asking = undefined))
    return this.#asking
  }

  async #askHead(): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.log.head()
        this.#answered()
        return true
      } catch (error) {
        if (attempt < TRIES && this.#fault === undefined) {
          await pause(RECONNECTED, undefined, { ref: false })
          continue
        }
        this.#leave(
          error instanceof StoreUnavailable
            ? error
            : new StoreUnavailable(String(error), { cause: error, store: this.log.server }),
        )
        return false
      }
    }
  }

  #leave(fault: StoreUnavailable): void {
    if (this.#stopped) return
    const wasThere = this.#fault === undefined
    this.#fault = fault
    for (const giveUp of this.#waiting) giveUp(fault)
    this.#waiting.clear()
    if (wasThere) void this.#comeBack()
  }

  async #comeBack(): Promise<void> {
    while (this.#fault !== undefined && !this.#stopped) {
      await pause(this.looks.again, undefined, { ref: false })
      if (this.#fault !== undefined) await this.#find()
    }
  }
}

/** That the log was moved is none of its faults. */
const isOfTheLog = (error: unknown) =>
  (error instanceof StoreUnavailable && !(error instanceof LogClosed)) || error instanceof OutcomeUnknown

const unavailable = (fault: StoreUnavailable): Error => new StoreUnavailable(fault.message, { cause: fault })
