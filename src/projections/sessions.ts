import { RESTORES_STREAM } from '../domain/restoring.ts'
import { comparePositions, StoreUnavailable, type EventStore, type From } from '../stores/event-store.ts'
import { EndedTokens, TOKEN_STREAMS, type TokenName } from './ended-tokens.ts'
import { Waiting } from './waiting.ts'

type Noted = Parameters<EndedTokens['note']>[0]

export type SessionFeedOptions = {
  readonly store: EventStore
  /** Seconds that an access token lives. */
  readonly ttl: number
  readonly clock: () => number
  /** Milliseconds that never go back, whatever happens to the clock. */
  readonly monotonic: () => number
  /** Folds where accounts logged in from, of the same events. */
  readonly places: { note(event: Noted): void }
  /** Told of a subscription that failed; it is taken up again. */
  readonly failed: (error: unknown) => void
}

/** Milliseconds between two looks at the head of a store that tells it by a promise. */
const CONFIRM_EVERY = 1000
/** Milliseconds that a confirmation is worth something. */
const CONFIRMED_FOR = 5000
/** Milliseconds that a request waits for events which are known to be there. */
const PATIENCE = 2000
const RESTART_AFTER = 1000
const FORGET_EVERY = 60_000

/**
 * Tells which access tokens have been ended, from memory: no store is read for a request. A store that tells its head
 * at once is asked in each request whether something is missing here; one that tells it by a promise every second, and
 * where no answer was confirmed for 5 s, each request reads the streams behind its token.
 */
export class SessionFeed {
  readonly #options: SessionFeedOptions
  readonly #ended: EndedTokens
  readonly #waiting = new Waiting()
  readonly #timers: NodeJS.Timeout[] = []
  #position: From = 'start'
  #accountsChangedAt: From = 'start'
  #confirms = false
  #confirmedAt = Number.NEGATIVE_INFINITY
  #stopped = false
  #stop = () => {}

  constructor(options: SessionFeedOptions) {
    this.#options = options
    this.#ended = new EndedTokens(options.ttl)
  }

  /**
   * Resolves when the log as it is now has been read.
   * @throws StoreUnavailable
   */
  async start(): Promise<void> {
    const { store, clock, monotonic } = this.#options
    const asked = monotonic()
    const head = store.head()
    this.#confirms = head instanceof Promise
    const there = await head
    void this.#follow()
    await this.#waiting.until(there)
    this.#confirmedAt = asked
    this.#timers.push(setInterval(() => this.#ended.forget(clock()), FORGET_EVERY).unref())
    if (this.#confirms) this.#timers.push(setInterval(() => void this.confirm(), CONFIRM_EVERY).unref())
  }

  stop(): void {
    this.#stopped = true
    this.#stop()
    for (const timer of this.#timers.splice(0)) clearInterval(timer)
  }

  /** Takes note of an event of this process at once, before the subscription brings it. */
  note(event: Noted): void {
    this.#ended.note(event)
    this.#options.places.note(event)
  }

  /**
   * Whether a token has not been ended by anyone, in any process.
   * @throws StoreUnavailable, also by the promise
   */
  isLive(token: TokenName): boolean | Promise<boolean> {
    const missing = this.#missing()
    if (missing === undefined) return this.#ended.isLive(token)
    if (missing === 'unconfirmed') return this.#read(token)
    return this.#waiting.until(missing, PATIENCE).then(() => this.#ended.isLive(token))
  }

  /**
   * The position of the newest event of any account, once all events there are now have been read: what was read from
   * accounts before it may be outdated.
   * @throws StoreUnavailable, also by the promise
   */
  accountsChangedAt(): From | Promise<From> {
    const missing = this.#missing()
    if (missing === undefined) return this.#accountsChangedAt
    if (missing === 'unconfirmed') throw new StoreUnavailable('The log does not tell its head')
    return this.#waiting.until(missing, PATIENCE).then(() => this.#accountsChangedAt)
  }

  /** The epoch of the log: what carries another one is of days that are lost, and good for nothing. */
  get logEpoch(): number {
    return this.#ended.logEpoch
  }

  /** How far the log has been read. */
  get position(): From {
    return this.#position
  }

  /** Looks whether something is missing here, where requests do not look themselves. */
  async confirm(): Promise<void> {
    const asked = this.#options.monotonic()
    try {
      await this.#waiting.until(await this.#options.store.head(), CONFIRMED_FOR)
      this.#confirmedAt = asked
    } catch {
      // The last confirmation runs out by itself.
    }
  }

  /** The position still to be reached, `unconfirmed` where nobody knows it, undefined when nothing is missing. */
  #missing(): From | 'unconfirmed' | undefined {
    if (this.#confirms) {
      return this.#options.monotonic() - this.#confirmedAt < CONFIRMED_FOR ? undefined : 'unconfirmed'
    }
    const head = this.#options.store.head()
    if (head instanceof Promise) throw new Error('The store tells its head in another way than at the start')
    return comparePositions(this.#position, head) < 0 ? head : undefined
  }

  async #read(token: TokenName): Promise<boolean> {
    const ended = new EndedTokens(this.#options.ttl)
    const streams = [`session-${token.session}`, `account-${token.account}`, `client-${token.client}`, RESTORES_STREAM]
    for (const events of await Promise.all(streams.map((stream) => this.#options.store.read(stream)))) {
      for (const event of events) ended.note(event)
    }
    return ended.isLive(token)
  }

  async #follow(): Promise<void> {
    while (!this.#stopped) {
      try {
        await this.#subscribe()
      } catch (error) {
        this.#options.failed(error)
        await new Promise<void>((done) => setTimeout(done, RESTART_AFTER).unref())
      }
    }
  }

  async #subscribe(): Promise<void> {
    const subscription = this.#options.store.subscribe(this.#position, TOKEN_STREAMS)
    this.#stop = () => subscription.stop()
    for await (const { events, position } of subscription) {
      for (const event of events) {
        this.note(event)
        if (event.stream.startsWith('account-') || event.stream === RESTORES_STREAM)
          this.#accountsChangedAt = event.position
      }
      this.#position = position
      this.#waiting.reached(position)
    }
  }
}
