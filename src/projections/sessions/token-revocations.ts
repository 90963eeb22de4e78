import { eventTimeOf } from '../../events/event-metadata.ts'
import { LINK_KEY_STREAM } from '../../domain/installation/keys.ts'
import {
  epochOfLastRestore,
  FIRST_EPOCH,
  RESTORES_STREAM,
  isSameEpoch,
} from '../../domain/installation/installation.ts'
import type { Grant } from '../../domain/session/session.ts'
import type { AppLogger } from '../../runtime/logger.ts'
import {
  comparePositions,
  StoreUnavailable,
  type SubscriptionBatch,
  type EventStore,
  type PositionOrStart,
  type StoredEvent,
} from '../../stores/ports/event-store.ts'
import { consumeBatches } from '../engine/consume-batches.ts'
import { Loop, type RunCounters } from '../engine/loop.ts'
import { LocalProgress } from '../engine/progress.ts'
import { NO_STALE_READS, type StaleReadPolicy } from '../engine/stale-reads.ts'

/** The streams whose events end tokens. */
const TOKEN_STREAMS = { prefixes: ['session-', 'account-', 'client-', RESTORES_STREAM] } as const

/** What names an access token. */
export type AccessTokenIdentity = Grant & { readonly session: string; readonly number: number }

/** Instances' clocks may differ by so much: an ended token is remembered this much longer than it could live. */
const CLOCK_SKEW_MS = 600_000

/**
 * Milliseconds after the start in which nothing is forgotten: a clock that was wrong at the start may have been set right
 * by then.
 */
const STARTUP_RETENTION_MS = 600_000

type RevocationMap<Key> = Map<Key, { readonly epoch: number; readonly removableAt: number }>

/**
 * Which access tokens were ended before their time: a fold of events that may come twice, and forgets what has expired
 * by itself. It looks at nothing but names and counts, so that an event of a newer release still ends its token.
 */
export class RevokedTokens {
  readonly #sessions: RevocationMap<string> = new Map()
  readonly #tokens: RevocationMap<string> = new Map()
  readonly #accounts: RevocationMap<number> = new Map()
  readonly #clients: RevocationMap<string> = new Map()
  readonly #kept: number
  #logEpoch = FIRST_EPOCH
  readonly #monotonic: () => number
  readonly #startedAt: number
  #believed: { readonly time: number; readonly at: number } | undefined

  /**
   * @param ttl seconds that an access token lives
   * @param monotonic milliseconds that never go back, whatever happens to the clock
   */
  constructor(ttl: number, monotonic: () => number = () => performance.now()) {
    this.#kept = ttl * 1000 + CLOCK_SKEW_MS
    this.#monotonic = monotonic
    this.#startedAt = monotonic()
  }

  /** The log's, as far as it was read. */
  get logEpoch(): number {
    return this.#logEpoch
  }

  applyEvent({ stream, type, data, metadata }: Pick<StoredEvent, 'stream' | 'type' | 'data' | 'metadata'>): void {
    const at = eventTimeOf({ metadata })
    const id = stream.slice(stream.indexOf('-') + 1)
    if (type === 'SessionRevoked') this.#revoke(this.#sessions, id, 1, at)
    else if (type === 'LogRestored') this.#logEpoch = epochOfLastRestore({ type, data })
    else if (type === 'AccessTokenRevoked') this.#revoke(this.#tokens, `${id}/${Number(data['number'])}`, 1, at)
    else if (type === 'PasswordChanged' || type === 'AccountDisabled') {
      this.#revoke(this.#accounts, Number(id), Number(data['epoch']), at)
    } else if (type === 'ClientDisabled') this.#revoke(this.#clients, id, Number(data['epoch']), at)
  }

  isLive({ session, number, account, accountEpoch, client, clientEpoch, logEpoch }: AccessTokenIdentity): boolean {
    return (
      isSameEpoch(logEpoch, this.#logEpoch) &&
      !this.#sessions.has(session) &&
      (this.#accounts.get(account)?.epoch ?? 0) <= accountEpoch &&
      (this.#clients.get(client)?.epoch ?? 0) <= clientEpoch &&
      (this.#tokens.size === 0 || !this.#tokens.has(`${session}/${number}`))
    )
  }

  /**
   * Forgets what was ended so long ago that its tokens have expired. A clock may be 30 days ahead for a minute: what it
   * says is believed only as far as time has passed since it was believed before, and at once where it says less.
   * @param clock milliseconds since 1970
   */
  removeExpired(clock: number): void {
    const at = this.#monotonic()
    const { time = clock, at: before = at } = this.#believed ?? {}
    const now = Math.min(clock, time + at - before)
    this.#believed = { time: now, at }
    if (at - this.#startedAt < STARTUP_RETENTION_MS) return
    for (const ended of [this.#sessions, this.#tokens, this.#clients]) removeExpiredFrom(ended, now)
    removeExpiredFrom(this.#accounts, now)
  }

  #revoke<Key>(ended: RevocationMap<Key>, key: Key, epoch: number, at: number): void {
    const known = ended.get(key)
    if (known !== undefined && known.epoch >= epoch) return
    ended.delete(key)
    ended.set(key, { epoch, removableAt: at + this.#kept })
  }
}

/** The oldest come first: it stops at the first that is still needed. */
function removeExpiredFrom<Key>(ended: RevocationMap<Key>, now: number): void {
  for (const [key, { removableAt }] of ended) {
    if (removableAt > now) return
    ended.delete(key)
  }
}

type TokenEvent = Parameters<RevokedTokens['applyEvent']>[0]

export type TokenRevocationListOptions = {
  readonly store: EventStore
  /** Seconds that an access token lives. */
  readonly ttlSeconds: number
  readonly clock: () => number
  /** Milliseconds that never go back, whatever happens to the clock. */
  readonly monotonic: () => number
  /** Folds where accounts logged in from, of the same events. */
  readonly loginLocations: { note(event: TokenEvent): void }
  /** Told of another key that signs links, whichever process made it. */
  readonly linkKeys: { note(event: StoredEvent): void }
  /** Whether reads go on while the log is away; they don't unless told. */
  readonly stale?: StaleReadPolicy
  readonly log: AppLogger
}

const SUBSCRIBED_STREAMS = { prefixes: [...TOKEN_STREAMS.prefixes, LINK_KEY_STREAM] }

/** Milliseconds between two looks at the head of a store that tells it by a promise. */
const CONFIRM_INTERVAL_MS = 1000
/** Milliseconds that a confirmation is worth something. */
const CONFIRMATION_TTL_MS = 5000
/** Milliseconds that a request waits for events which are known to be there, before it reads the log itself. */
const CATCH_UP_WAIT_MS = 2000
const CLEANUP_INTERVAL_MS = 60_000

/**
 * Tells which access tokens have been ended, from memory: no store is read for a request. A store that tells its head
 * at once is asked in each request whether something is missing here; one that tells it by a promise every second. Where no
 * answer was confirmed for 5 s, or what is missing does not come, each request reads the streams behind its token. Where the log is away, nobody can
 * end a token either: for a while, what was confirmed last decides about requests that only read.
 */
export class TokenRevocationList {
  readonly #options: TokenRevocationListOptions
  readonly #ended: RevokedTokens
  readonly #progress = new LocalProgress()
  readonly #following: Loop
  readonly #confirming: Loop
  readonly #forgetting: Loop
  #latestAccountPosition: PositionOrStart = 'start'
  #confirms = false
  #confirmedAt = Number.NEGATIVE_INFINITY
  /** What the last try to confirm has failed with. */
  #confirmationError: unknown

  constructor(options: TokenRevocationListOptions) {
    const { ttlSeconds, clock, monotonic, log } = options
    this.#options = options
    this.#ended = new RevokedTokens(ttlSeconds, monotonic)
    this.#following = new Loop('sessions', log, (signal) => this.#follow(signal))
    this.#confirming = new Loop('sessions-confirming', log, () => this.confirm(), { intervalMs: CONFIRM_INTERVAL_MS })
    const forget = async () => this.#ended.removeExpired(clock())
    this.#forgetting = new Loop('sessions-forgetting', log, forget, { intervalMs: CLEANUP_INTERVAL_MS })
  }

  /**
   * Resolves when the log as it is now has been read.
   * @throws StoreUnavailable
   */
  async start(): Promise<void> {
    const { store, monotonic } = this.#options
    const asked = monotonic()
    const head = store.head()
    this.#confirms = head instanceof Promise
    const there = await head
    this.#following.start()
    await this.#progress.waitForPosition(there, Number.POSITIVE_INFINITY)
    this.#confirmedAt = asked
    this.#forgetting.start()
    if (this.#confirms) this.#confirming.start()
  }

  async stop(): Promise<void> {
    await Promise.all([this.#following.stop(), this.#confirming.stop(), this.#forgetting.stop()])
  }

  get counters(): RunCounters[] {
    return [this.#following, this.#confirming, this.#forgetting].map(({ counters: figures }) => figures)
  }

  /** Takes note of an event of this process at once, before the subscription brings it. */
  applyEvent(event: TokenEvent): void {
    this.#ended.applyEvent(event)
    this.#options.loginLocations.note(event)
  }

  /**
   * Whether a token has not been ended by anyone, in any process.
   * @throws StoreUnavailable, also by the promise
   */
  isLive(token: AccessTokenIdentity): boolean | Promise<boolean> {
    const missing = this.#missing()
    if (missing === undefined) return this.#ended.isLive(token)
    if (missing === 'unconfirmed') return this.#read(token)
    return this.#reached(missing, CATCH_UP_WAIT_MS).then((reached) =>
      reached ? this.#ended.isLive(token) : this.#read(token),
    )
  }

  /**
   * Whether a token had not been ended when that was last confirmed, where the log is away and reads go on without it.
   * @param error why `isLive` does not know
   * @throws the error where the log is not away, or what is known is older than STALE_READS
   */
  async wasLiveWhenConfirmed(token: AccessTokenIdentity, error: unknown): Promise<boolean> {
    const { stale = NO_STALE_READS } = this.#options
    await stale.ageSecondsOrThrow(error, this.#confirmedAt)
    return this.#ended.isLive(token)
  }

  /**
   * The position of the newest event of any account, or a later one: what was read from accounts before it may be
   * outdated.
   * @throws StoreUnavailable, also by the promise
   */
  latestAccountPosition(): PositionOrStart | Promise<PositionOrStart> {
    const missing = this.#missing()
    if (missing === undefined) return this.#latestAccountPosition
    if (missing === 'unconfirmed')
      throw new StoreUnavailable('The log does not tell its head', { cause: this.#confirmationError })
    // What came meanwhile may be of an account: anything read before it counts as outdated.
    return this.#reached(missing, CATCH_UP_WAIT_MS).then((reached) => (reached ? this.#latestAccountPosition : missing))
  }

  /** The epoch of the log: what carries another one is of days that are lost, and good for nothing. */
  get logEpoch(): number {
    return this.#ended.logEpoch
  }

  /** How far the log has been read. */
  get position(): PositionOrStart {
    return this.#progress.position
  }

  /**
   * Looks whether something is missing here, where requests do not look themselves. Where it fails, the last
   * confirmation runs out by itself.
   * @throws StoreUnavailable
   */
  async confirm(): Promise<void> {
    const asked = this.#options.monotonic()
    try {
      if (!(await this.#reached(await this.#options.store.head(), CONFIRMATION_TTL_MS)))
        throw new StoreUnavailable(`The log was not read on within ${CONFIRMATION_TTL_MS} ms`, { store: 'the log' })
      this.#confirmedAt = asked
    } catch (error) {
      this.#confirmationError = error
      throw error
    }
  }

  /** The position still to be reached, `unconfirmed` where nobody knows it, undefined when nothing is missing. */
  #missing(): PositionOrStart | 'unconfirmed' | undefined {
    if (this.#confirms) {
      return this.#options.monotonic() - this.#confirmedAt < CONFIRMATION_TTL_MS ? undefined : 'unconfirmed'
    }
    const head = this.#options.store.head()
    if (head instanceof Promise) throw new Error('The store tells its head in another way than at the start')
    return comparePositions(this.position, head) < 0 ? head : undefined
  }

  async #read(token: AccessTokenIdentity): Promise<boolean> {
    const ended = new RevokedTokens(this.#options.ttlSeconds, this.#options.monotonic)
    const streams = [`session-${token.session}`, `account-${token.account}`, `client-${token.client}`, RESTORES_STREAM]
    for (const events of await Promise.all(streams.map((stream) => this.#options.store.read(stream)))) {
      for (const event of events) ended.applyEvent(event)
    }
    return ended.isLive(token)
  }

  async #reached(position: PositionOrStart, patience: number): Promise<boolean> {
    return this.#progress.waitForPosition(position, patience)
  }

  #follow(signal: AbortSignal): Promise<void> {
    return consumeBatches(
      this.#options.store,
      { from: this.position, ...SUBSCRIBED_STREAMS },
      async (batch) => this.#take(batch),
      signal,
    )
  }

  #take({ events, position }: SubscriptionBatch): void {
    for (const event of events) {
      this.applyEvent(event)
      this.#options.linkKeys.note(event)
      if (event.stream.startsWith('account-') || event.stream === RESTORES_STREAM)
        this.#latestAccountPosition = event.position
    }
    this.#progress.advance(position)
  }
}
