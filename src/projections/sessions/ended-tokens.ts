import { epochOf, FIRST_EPOCH, RESTORES_STREAM, sameEpoch } from '../../domain/installation/installation.ts'
import type { Grant } from '../../domain/session/session.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'

/** The streams whose events end tokens. */
export const TOKEN_STREAMS = { prefixes: ['session-', 'account-', 'client-', RESTORES_STREAM] } as const

/** What names an access token. */
export type TokenName = Grant & { readonly session: string; readonly number: number }

/** Instances' clocks may differ by so much: an ended token is remembered this much longer than it could live. */
const SLACK = 600_000

/**
 * Milliseconds after the start in which nothing is forgotten: a clock that was wrong at the start may have been set right
 * by then.
 */
const FIRST_FORGOTTEN = 600_000

type Ended<Key> = Map<Key, { readonly epoch: number; readonly forgottenAt: number }>

/**
 * Which access tokens were ended before their time: a fold of events that may come twice, and forgets what has expired
 * by itself. It looks at nothing but names and counts, so that an event of a newer release still ends its token.
 */
export class EndedTokens {
  readonly #sessions: Ended<string> = new Map()
  readonly #tokens: Ended<string> = new Map()
  readonly #accounts: Ended<number> = new Map()
  readonly #clients: Ended<string> = new Map()
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
    this.#kept = ttl * 1000 + SLACK
    this.#monotonic = monotonic
    this.#startedAt = monotonic()
  }

  /** The log's, as far as it was read. */
  get logEpoch(): number {
    return this.#logEpoch
  }

  note({ stream, type, data, metadata }: Pick<StoredEvent, 'stream' | 'type' | 'data' | 'metadata'>): void {
    const at = Date.parse(metadata['at'] ?? '') || 0
    const id = stream.slice(stream.indexOf('-') + 1)
    if (type === 'SessionRevoked') this.#end(this.#sessions, id, 1, at)
    else if (type === 'LogRestored') this.#logEpoch = epochOf({ type, data })
    else if (type === 'AccessTokenRevoked') this.#end(this.#tokens, `${id}/${Number(data['number'])}`, 1, at)
    else if (type === 'PasswordChanged' || type === 'AccountDisabled') {
      this.#end(this.#accounts, Number(id), Number(data['epoch']), at)
    } else if (type === 'ClientDisabled') this.#end(this.#clients, id, Number(data['epoch']), at)
  }

  isLive({ session, number, account, accountEpoch, client, clientEpoch, logEpoch }: TokenName): boolean {
    return (
      sameEpoch(logEpoch, this.#logEpoch) &&
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
  forget(clock: number): void {
    const at = this.#monotonic()
    const { time = clock, at: before = at } = this.#believed ?? {}
    const now = Math.min(clock, time + at - before)
    this.#believed = { time: now, at }
    if (at - this.#startedAt < FIRST_FORGOTTEN) return
    for (const ended of [this.#sessions, this.#tokens, this.#clients]) forgetIn(ended, now)
    forgetIn(this.#accounts, now)
  }

  #end<Key>(ended: Ended<Key>, key: Key, epoch: number, at: number): void {
    const known = ended.get(key)
    if (known !== undefined && known.epoch >= epoch) return
    ended.delete(key)
    ended.set(key, { epoch, forgottenAt: at + this.#kept })
  }
}

/** The oldest come first: it stops at the first that is still needed. */
function forgetIn<Key>(ended: Ended<Key>, now: number): void {
  for (const [key, { forgottenAt }] of ended) {
    if (forgottenAt > now) return
    ended.delete(key)
  }
}
