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
  DamagedStore,
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

/** The claims that identify an access token. */
type AccessTokenIdentity = Grant & { readonly session: string; readonly number: number }

type TokenEvent = Parameters<RevokedTokens['applyEvent']>[0]

/**
 * Tells from memory which access tokens are revoked, without reading a store for each request. If the store's head is
 * local (embedded), each request compares it with the projected position. Otherwise the head is read every second; if it
 * was not confirmed for 5 s, or the missing events do not arrive, each request with an access token reads the token's
 * streams, and each with an API token reads the head.
 * While the log is unavailable no token can be revoked either: for STALE_READS seconds, read-only requests use the last
 * confirmed state.
 */
export class TokenRevocationList {
  readonly #options: TokenRevocationListOptions
  readonly #revokedTokens: RevokedTokens
  readonly #progress = new LocalProgress()
  readonly #subscriptionLoop: Loop
  readonly #confirmationLoop: Loop
  readonly #cleanupLoop: Loop
  #latestAccountPosition: PositionOrStart = 'start'
  #confirmedAt = Number.NEGATIVE_INFINITY
  /** Rejects if the log is damaged: `start` would wait forever. */
  readonly #logDamage = Promise.withResolvers<never>()

  constructor(options: TokenRevocationListOptions) {
    const { ttlSeconds, clock, monotonic, log } = options
    this.#options = options
    // After the start nobody waits for it; the loop reports the error.
    this.#logDamage.promise.catch(() => undefined)
    this.#revokedTokens = new RevokedTokens(ttlSeconds, monotonic)
    this.#subscriptionLoop = new Loop('sessions', log, (signal) => this.#consumeLog(signal))
    this.#confirmationLoop = new Loop('sessions-confirming', log, () => this.confirm(), {
      intervalMs: CONFIRM_INTERVAL_MS,
    })
    const removeExpired = async () => this.#revokedTokens.removeExpired(clock())
    this.#cleanupLoop = new Loop('sessions-forgetting', log, removeExpired, { intervalMs: CLEANUP_INTERVAL_MS })
  }

  /**
   * Resolves when the log has been read up to its current head, which takes as long as the log is unavailable.
   * @throws StoreUnavailable if the head is unknown; DamagedStore
   */
  async start(): Promise<void> {
    const { store, monotonic } = this.#options
    const requestedAt = monotonic()
    const head = await store.head()
    this.#subscriptionLoop.start()
    await Promise.race([this.#progress.waitForPosition(head, Number.POSITIVE_INFINITY), this.#logDamage.promise])
    this.#confirmedAt = requestedAt
    this.#cleanupLoop.start()
    if (!store.isHeadLocal) this.#confirmationLoop.start()
  }

  async stop(): Promise<void> {
    await Promise.all([this.#subscriptionLoop.stop(), this.#confirmationLoop.stop(), this.#cleanupLoop.stop()])
  }

  get counters(): RunCounters[] {
    return [this.#subscriptionLoop, this.#confirmationLoop, this.#cleanupLoop].map(({ counters }) => counters)
  }

  /** Applies an event that this process has written, before the subscription delivers it. */
  applyEvent(event: TokenEvent): void {
    this.#revokedTokens.applyEvent(event)
    this.#options.loginLocations.note(event)
  }

  /**
   * Whether a token has not been revoked, by any process.
   * @throws StoreUnavailable
   */
  async isLive(token: AccessTokenIdentity): Promise<boolean> {
    const pendingPosition = await this.#pendingPosition()
    if (pendingPosition === undefined) return this.#revokedTokens.isLive(token)
    const isReached =
      pendingPosition !== 'unconfirmed' && (await this.#progress.waitForPosition(pendingPosition, CATCH_UP_WAIT_MS))
    return isReached ? this.#revokedTokens.isLive(token) : this.#isLiveInLog(token)
  }

  /**
   * Whether a token had not been revoked at the last confirmation, for stale reads while the log is unavailable.
   * @param error of `isLive`
   * @throws the error if the log is available, or the confirmation is older than STALE_READS
   */
  async wasLiveWhenConfirmed(token: AccessTokenIdentity, error: unknown): Promise<boolean> {
    const { stale = NO_STALE_READS } = this.#options
    await stale.ageSecondsOrThrow(error, this.#confirmedAt)
    return this.#revokedTokens.isLive(token)
  }

  /**
   * The position of the newest event of any account, or a later one: account data read before it may be outdated.
   * @throws StoreUnavailable
   */
  async latestAccountPosition(): Promise<PositionOrStart> {
    const pendingPosition = await this.#pendingPosition()
    if (pendingPosition === undefined) return this.#latestAccountPosition
    // Confirmations also expire while this process is suspended, with the log available.
    const position = pendingPosition === 'unconfirmed' ? await this.#options.store.head() : pendingPosition
    // Events that are missing may be of an account: treat all earlier reads as outdated.
    const isReached = await this.#progress.waitForPosition(position, CATCH_UP_WAIT_MS)
    return isReached ? this.#latestAccountPosition : position
  }

  /** The log's epoch. Tokens and cursors of another epoch belong to a part of the log that was lost in a restore. */
  get logEpoch(): number {
    return this.#revokedTokens.logEpoch
  }

  get position(): PositionOrStart {
    return this.#progress.position
  }

  /**
   * Checks whether events are missing here, if requests do not check it themselves. After failures the last
   * confirmation expires.
   * @throws StoreUnavailable
   */
  async confirm(): Promise<void> {
    const requestedAt = this.#options.monotonic()
    if (!(await this.#progress.waitForPosition(await this.#options.store.head(), CONFIRMATION_TTL_MS)))
      throw new StoreUnavailable(`The event log was not read up to its head within ${CONFIRMATION_TTL_MS} ms`, {
        store: 'the log',
      })
    this.#confirmedAt = requestedAt
  }

  /** The position still to be reached, 'unconfirmed' if it is unknown, undefined if nothing is missing. */
  async #pendingPosition(): Promise<PositionOrStart | 'unconfirmed' | undefined> {
    const { store, monotonic } = this.#options
    if (!store.isHeadLocal) return monotonic() - this.#confirmedAt < CONFIRMATION_TTL_MS ? undefined : 'unconfirmed'
    const head = await store.head()
    return comparePositions(this.position, head) < 0 ? head : undefined
  }

  async #isLiveInLog(token: AccessTokenIdentity): Promise<boolean> {
    const revocations = new RevokedTokens(this.#options.ttlSeconds, this.#options.monotonic)
    const streams = [`session-${token.session}`, `account-${token.account}`, `client-${token.client}`, RESTORES_STREAM]
    for (const events of await Promise.all(streams.map((stream) => this.#options.store.readStream(stream)))) {
      for (const event of events) revocations.applyEvent(event)
    }
    return revocations.isLive(token)
  }

  async #consumeLog(signal: AbortSignal): Promise<void> {
    const { store } = this.#options
    const from = { from: this.position, ...SUBSCRIBED_STREAMS }
    try {
      await consumeBatches(store, from, async (batch) => this.#applyBatch(batch), signal)
    } catch (error) {
      if (error instanceof DamagedStore) this.#logDamage.reject(error)
      throw error
    }
  }

  #applyBatch({ events, position }: SubscriptionBatch): void {
    for (const event of events) {
      this.applyEvent(event)
      this.#options.linkKeys.note(event)
      if (event.stream.startsWith('account-') || event.stream === RESTORES_STREAM)
        this.#latestAccountPosition = event.position
    }
    this.#progress.advance(position)
  }
}

type TokenRevocationListOptions = {
  readonly store: EventStore
  /** Lifetime of an access token, in seconds. */
  readonly ttlSeconds: number
  readonly clock: () => number
  /** Milliseconds of a clock that never goes back. */
  readonly monotonic: () => number
  /** Projects the locations of logins from the same events. */
  readonly loginLocations: { note(event: TokenEvent): void }
  /** Receives new link-signing keys, from any process. */
  readonly linkKeys: { note(event: StoredEvent): void }
  /** Whether reads continue while the log is unavailable. Default: no. */
  readonly stale?: StaleReadPolicy
  readonly log: AppLogger
}

/** Milliseconds between two reads of the head, if a server must be called for it. */
const CONFIRM_INTERVAL_MS = 1000

const CLEANUP_INTERVAL_MS = 60_000

/** Milliseconds that a request waits for known events to be projected before it reads the log itself. */
const CATCH_UP_WAIT_MS = 2000

/** Milliseconds that a confirmation is valid. */
const CONFIRMATION_TTL_MS = 5000

/** Streams with events that revoke tokens. */
const TOKEN_STREAMS = { prefixes: ['session-', 'account-', 'client-', RESTORES_STREAM] } as const

const SUBSCRIBED_STREAMS = { prefixes: [...TOKEN_STREAMS.prefixes, LINK_KEY_STREAM] }

type RevocationMap<Key> = Map<Key, { readonly epoch: number; readonly removableAt: number }>

/**
 * The access tokens revoked before their expiry. Applying an event twice changes nothing; revocations of expired tokens
 * are removed. Reads only event types, names and epochs, so that events of newer releases revoke tokens too.
 */
export class RevokedTokens {
  readonly #sessions: RevocationMap<string> = new Map()
  readonly #tokens: RevocationMap<string> = new Map()
  readonly #accounts: RevocationMap<number> = new Map()
  readonly #clients: RevocationMap<string> = new Map()
  readonly #retentionMs: number
  #logEpoch = FIRST_EPOCH
  readonly #monotonic: () => number
  readonly #startedAt: number
  #lastClockReading: { readonly time: number; readonly at: number } | undefined

  /**
   * @param ttl lifetime of an access token, in seconds
   * @param monotonic milliseconds of a clock that never goes back
   */
  constructor(ttl: number, monotonic: () => number = () => performance.now()) {
    this.#retentionMs = ttl * 1000 + CLOCK_SKEW_MS
    this.#monotonic = monotonic
    this.#startedAt = monotonic()
  }

  /** The epoch of the log, as far as it was read. */
  get logEpoch(): number {
    return this.#logEpoch
  }

  applyEvent({ stream, type, data, metadata }: Pick<StoredEvent, 'stream' | 'type' | 'data' | 'metadata'>): void {
    const revokedAt = eventTimeOf({ metadata })
    const id = stream.slice(stream.indexOf('-') + 1)
    if (type === 'SessionRevoked') this.#revoke(this.#sessions, id, 1, revokedAt)
    else if (type === 'LogRestored') this.#logEpoch = epochOfLastRestore({ type, data })
    else if (type === 'AccessTokenRevoked') this.#revoke(this.#tokens, `${id}/${Number(data['number'])}`, 1, revokedAt)
    else if (type === 'PasswordChanged' || type === 'AccountDisabled') {
      this.#revoke(this.#accounts, Number(id), Number(data['epoch']), revokedAt)
    } else if (type === 'ClientDisabled') this.#revoke(this.#clients, id, Number(data['epoch']), revokedAt)
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
   * Removes revocations of tokens that have expired since. Guards against a clock that jumps ahead temporarily: time
   * advances at most as fast as the monotonic clock; a clock set back is followed at once.
   * @param clock milliseconds since 1970
   */
  removeExpired(clock: number): void {
    const monotonicNow = this.#monotonic()
    const { time = clock, at: lastMonotonic = monotonicNow } = this.#lastClockReading ?? {}
    const now = Math.min(clock, time + monotonicNow - lastMonotonic)
    this.#lastClockReading = { time: now, at: monotonicNow }
    if (monotonicNow - this.#startedAt < STARTUP_RETENTION_MS) return
    for (const revocations of [this.#sessions, this.#tokens, this.#clients]) removeExpiredFrom(revocations, now)
    removeExpiredFrom(this.#accounts, now)
  }

  #revoke<Key>(revocations: RevocationMap<Key>, key: Key, epoch: number, revokedAt: number): void {
    const existing = revocations.get(key)
    if (existing !== undefined && existing.epoch >= epoch) return
    revocations.delete(key)
    revocations.set(key, { epoch, removableAt: revokedAt + this.#retentionMs })
  }
}

/** Tolerated clock skew between instances: a revocation is kept this much longer than the token's lifetime. */
const CLOCK_SKEW_MS = 600_000

/** Milliseconds after the start in which no revocation is removed, so that a wrong clock can be corrected first. */
const STARTUP_RETENTION_MS = 600_000

/** Entries are in insertion order: stops at the first that is still needed. */
function removeExpiredFrom<Key>(revocations: RevocationMap<Key>, now: number): void {
  for (const [key, { removableAt }] of revocations) {
    if (removableAt > now) return
    revocations.delete(key)
  }
}
