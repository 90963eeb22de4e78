import { BROWSER_CLIENT } from '../../commands/sessions/sessions.ts'
import type { AccessClaims, AccessTokens } from '../../credentials/access-tokens.ts'
import { RequestError } from '../../domain/request-error.ts'
import type { Origin } from '../../events/event-metadata.ts'
import { WaitBudget } from '../../projections/engine/progress.ts'
import { StoreUnavailable } from '../../stores/ports/event-store.ts'
import { refuseCrossSite } from '../middleware/cors.ts'
import type { Authenticator, EndpointContext, RequestState } from './endpoint.ts'
import { ErrorWithHeaders } from './errors.ts'

type BasicCredentials = { readonly user: string; readonly password: string }

/** The scheme, case-insensitive, then one token68. */
const BASIC = /^basic +([\w+/-]+={0,2}) *$/i

/** True for an Authorization header of the Basic scheme, even if its credentials are malformed. */
export const isBasicAuthorization = (header: string | undefined): boolean => /^basic\b/i.test(header ?? '')

/** Parses HTTP Basic credentials (RFC 7617). @returns undefined if they are malformed */
export function parseBasicCredentials(header: string): BasicCredentials | undefined {
  const text = Buffer.from(BASIC.exec(header)?.[1] ?? '', 'base64').toString()
  const colon = text.indexOf(':')
  return colon < 0 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) }
}

export type BearerAuthentication = {
  readonly tokens: Pick<AccessTokens, 'verify'>
  /** The session feed: knows which tokens were revoked before they expired. */
  readonly feed: {
    isLive(claims: AccessClaims): Promise<boolean>
    /**
     * The state last confirmed while the event log was available. For reads only.
     * @throws the given error if that was longer ago than STALE_READS
     */
    wasLiveWhenConfirmed(claims: AccessClaims, error: unknown): Promise<boolean>
  }
}

export type BearerServices = { readonly bearer: BearerAuthentication }

export type BearerPrincipal = { readonly account: number; readonly session: string; readonly client: string }

/** The origin recorded in the metadata of events that a request causes. */
export const eventOriginFor = (
  account: number | undefined,
  { requestId, trace }: Pick<RequestState, 'requestId' | 'trace'>,
): Origin => ({
  actor: account === undefined ? 'anonymous' : `account-${account}`,
  via: 'http',
  correlation: requestId,
  ...(trace !== undefined && { trace }),
})

/** The same for a request with an access token. */
export const eventOriginOf = ({ state }: Pick<EndpointContext<BearerPrincipal>, 'state'>): Origin => ({
  ...eventOriginFor(state.principal.account, state),
  client: state.principal.client,
})

/**
 * Authenticates by access token, without reading a database.
 * @throws ErrorWithHeaders unauthenticated, with the challenge of RFC 6750
 */
export const bearer: Authenticator<BearerPrincipal, BearerServices> = {
  scheme: 'bearer',
  errorStatuses: [401],
  authenticate: verifyToken,
}

/** Adds to `auth`: only the service's own pages may send the request, and programs, which are not browsers. */
export const sameSite = <Principal, Service>(
  auth: Authenticator<Principal, Service>,
  ownOriginsOf: (services: Service) => readonly string[],
): Authenticator<Principal, Service> => ({
  ...auth,
  errorStatuses: [403, ...auth.errorStatuses],
  authenticate(ctx, services) {
    refuseCrossSite(ctx.headers, { ownOrigins: ownOriginsOf(services), allowedOrigins: new Set() })
    return auth.authenticate(ctx, services)
  },
})

type TokenRequest = Pick<EndpointContext, 'headers' | 'method' | 'state'>

async function verifyToken(ctx: TokenRequest, { bearer: { tokens, feed } }: BearerServices): Promise<AccessClaims> {
  const claims = tokens.verify(tokenIn(ctx.headers.authorization))
  if (claims === 'expired') throw invalidToken('The access token provided has expired.')
  // The tokens of browser sessions are valid for the pages alone.
  if (claims === 'invalid' || claims.client === BROWSER_CLIENT.client)
    throw invalidToken('The access token provided is invalid.')
  if (!(await isTokenActive(ctx, claims, feed))) throw invalidToken('The access token provided is invalid.')
  return claims
}

/**
 * Whether a verified token has not been revoked. While the event log is unavailable, GET and HEAD use the last confirmed
 * state.
 * @throws StoreUnavailable
 */
export async function isTokenActive(
  { method, state }: Pick<EndpointContext, 'method' | 'state'>,
  claims: AccessClaims,
  feed: BearerAuthentication['feed'],
): Promise<boolean> {
  try {
    return await state.waitBudget.spendOn(() => feed.isLive(claims))
  } catch (error) {
    if (SAFE_METHODS.has(method)) return feed.wasLiveWhenConfirmed(claims, error)
    throw error
  }
}

/** Whether the request's token is still valid: neither expired nor revoked. False if that cannot be determined. */
export async function isStillAuthenticated(
  { headers, method, state }: TokenRequest,
  services: BearerServices,
): Promise<boolean> {
  try {
    await verifyToken({ headers, method, state: { ...state, waitBudget: new WaitBudget() } }, services)
    return true
  } catch (error) {
    if (error instanceof ErrorWithHeaders || error instanceof StoreUnavailable) return false
    throw error
  }
}

function tokenIn(header: string | undefined): string {
  if (header?.startsWith('Bearer ') === true && !header.includes(' ', 7)) return header.slice(7)
  const token = BEARER.exec(header ?? '')?.[1]
  if (token !== undefined) return token
  if (/^bearer\b/i.test(header ?? '')) throw invalidToken('The access token provided is invalid.')
  // RFC 6750, section 3: without credentials the challenge names no error.
  const refusal = new RequestError('unauthenticated', 'OAuth2 authentication required')
  throw new ErrorWithHeaders({ 'WWW-Authenticate': 'Bearer realm="adamant"' }, refusal)
}

const invalidToken = (description: string) =>
  new ErrorWithHeaders(
    { 'WWW-Authenticate': `Bearer realm="adamant", error="invalid_token", error_description="${description}"` },
    new RequestError('unauthenticated', description),
  )

/** RFC 6750, section 2.1: the scheme, case-insensitive, then one token68. */
const BEARER = /^bearer +([\w.~+/-]+=*) *$/i

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD'])
