import { BROWSER } from '../../commands/sessions/sessions.ts'
import type { AccessClaims, AccessTokens } from '../../credentials/access-tokens.ts'
import { Refusal } from '../../domain/decider.ts'
import type { Origin } from '../../events/origin.ts'
import { Patience } from '../../projections/engine/progress.ts'
import { StoreUnavailable } from '../../stores/ports/event-store.ts'
import type { Asked, Who } from './endpoint.ts'
import { RefusedWith } from './errors.ts'

export type BasicCredentials = { readonly user: string; readonly password: string }

/** The scheme in any case, then one token68. */
const BASIC = /^basic +([\w+/-]+={0,2}) *$/i

/** Whether an Authorization header is of HTTP Basic, readable or not. */
export const isBasic = (header: string | undefined): boolean => /^basic\b/i.test(header ?? '')

/** What an Authorization header of HTTP Basic shows (RFC 7617); undefined where that is not readable. */
export function basicCredentials(header: string): BasicCredentials | undefined {
  const text = Buffer.from(BASIC.exec(header)?.[1] ?? '', 'base64').toString()
  const colon = text.indexOf(':')
  return colon < 0 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) }
}

export type Bearer = {
  readonly tokens: Pick<AccessTokens, 'verify'>
  /** Which tokens have been ended before their time: the session feed. */
  readonly feed: {
    isLive(claims: AccessClaims): boolean | Promise<boolean>
    /** As far as it was known when the log was there; asked of what only reads. @throws the error after STALE_READS */
    wasLive(claims: AccessClaims, error: unknown): Promise<boolean>
  }
}

export type BearerServices = { readonly bearer: Bearer }

/** Who came with an access token. */
export type Caller = { readonly account: number; readonly session: string; readonly client: string }

/** Whom events name as their actor, and which request as their cause. */
export const originFor = (account: number | undefined, { requestId, trace }: Requested): Origin => ({
  actor: account === undefined ? 'anonymous' : `account-${account}`,
  via: 'http',
  correlation: requestId,
  ...(trace !== undefined && { trace }),
})

/** What of a request its events are to be found by. */
export type Requested = Pick<Asked, 'requestId' | 'trace'>

export const originOf = (asked: Pick<Asked<Caller>, 'asker' | keyof Requested>): Origin => ({
  ...originFor(asked.asker.account, asked),
  client: asked.asker.client,
})

/**
 * Lets in who sends an access token that is good. No database is read.
 * @throws RefusedWith unauthenticated and the challenge of RFC 6750
 */
export const bearer: Who<Caller, BearerServices> = {
  scheme: 'bearer',
  refuses: [401],
  admit(asked, { bearer: { tokens, feed } }) {
    const claims = tokens.verify(tokenIn(asked.headers.authorization))
    if (claims === 'expired') throw notLetIn('The access token provided has expired.')
    // What a browser holds is for the pages that only read.
    if (claims === 'invalid' || claims.client === BROWSER.client)
      throw notLetIn('The access token provided is invalid.')
    const live = isStillLive(asked, claims, feed)
    return typeof live === 'boolean' ? passed(claims, live) : live.then((known) => passed(claims, known))
  },
}

/**
 * Whether a token that was issued here has not been ended since. Where the log is away, what only reads goes on by what was
 * known last.
 * @throws StoreUnavailable, by the promise
 */
export function isStillLive(
  { method, patience }: Pick<Asked, 'method' | 'patience'>,
  claims: AccessClaims,
  feed: Bearer['feed'],
): boolean | Promise<boolean> {
  const live = feed.isLive(claims)
  if (typeof live === 'boolean') return live
  return patience
    .during(() => live)
    .catch((error: unknown) => {
      if (READS.has(method)) return feed.wasLive(claims, error)
      throw error
    })
}

/**
 * Whether who was let in would be let in now: its token has neither expired nor been revoked. Where that can't be known, it
 * would not.
 */
export async function isStillLetIn({ headers }: Pick<Asked, 'headers'>, service: BearerServices): Promise<boolean> {
  const again = { headers, method: 'GET', patience: new Patience() } as Asked<unknown, unknown>
  try {
    await bearer.admit(again, service)
    return true
  } catch (error) {
    if (error instanceof RefusedWith || error instanceof StoreUnavailable) return false
    throw error
  }
}

function passed(claims: AccessClaims, live: boolean): AccessClaims {
  if (!live) throw notLetIn('The access token provided is invalid.')
  return claims
}

/** @param header the request's Authorization */
function tokenIn(header: string | undefined): string {
  if (header?.startsWith('Bearer ') === true && !header.includes(' ', 7)) return header.slice(7)
  const token = BEARER.exec(header ?? '')?.[1]
  if (token !== undefined) return token
  if (/^bearer\b/i.test(header ?? '')) throw notLetIn('The access token provided is invalid.')
  // RFC 6750, section 3: without credentials the challenge names no error.
  const refusal = new Refusal('unauthenticated', 'OAuth2 authentication required')
  throw new RefusedWith({ 'WWW-Authenticate': 'Bearer realm="adamant"' }, refusal)
}

const notLetIn = (description: string) =>
  new RefusedWith(
    { 'WWW-Authenticate': `Bearer realm="adamant", error="invalid_token", error_description="${description}"` },
    new Refusal('unauthenticated', description),
  )

/** RFC 6750, section 2.1: the scheme in any case, then one token68. */
const BEARER = /^bearer +([\w.~+/-]+=*) *$/i

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD'])
