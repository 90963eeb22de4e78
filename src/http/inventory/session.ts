import { BROWSER_CLIENT, BROWSER_SESSION_TTL_SECONDS, type LogInContext } from '../../commands/sessions/sessions.ts'
import { RequestError } from '../../domain/request-error.ts'
import { isTokenActive, sameSite, type BearerAuthentication, type BearerPrincipal } from '../kit/authenticate.ts'
import type { TrustedOrigins } from '../middleware/cors.ts'
import { publicAccess, type EndpointContext, type Authenticator } from '../kit/endpoint.ts'

/** Browser sessions use the sessions of the token server, with a different lifetime. */
type BrowserSessions = {
  readonly sessions: LogInContext
  readonly feed: BearerAuthentication['feed']
}

export type BrowserServices = {
  readonly browser: BrowserSessions & {
    readonly cookie: SessionCookie
    /** This service's own origins. Only their pages may send POST requests. */
    readonly ownOrigins: TrustedOrigins['ownOrigins']
  }
}

type SessionCookie = { readonly name: string; readonly attributes: string }

/** @param isHttps adds `Secure` and the `__Host-` prefix, so that only this host can set the cookie, and only over https */
export const cookieFor = (isHttps: boolean): SessionCookie => ({
  name: isHttps ? '__Host-adamant' : 'adamant',
  attributes: `Path=/; HttpOnly; SameSite=Lax${isHttps ? '; Secure' : ''}`,
})

export const setSessionCookie = ({ name, attributes }: SessionCookie, token: string) => ({
  'Set-Cookie': `${name}=${token}; Max-Age=${BROWSER_SESSION_TTL_SECONDS}; ${attributes}`,
})

export const clearSessionCookie = ({ name, attributes }: SessionCookie) => ({
  'Set-Cookie': `${name}=; Max-Age=0; ${attributes}`,
})

/** Authenticates by the session cookie; undefined if the browser has no valid session. */
export const optionalSession: Authenticator<BearerPrincipal | undefined, BrowserServices> = {
  scheme: 'cookie',
  errorStatuses: [],
  authenticate: (ctx, { browser }) => sessionIn(ctx, browser),
}

/** Requires a session. Without one, the pages show the log-in form. @throws RequestError unauthenticated */
export const session: Authenticator<BearerPrincipal, BrowserServices> = {
  ...optionalSession,
  async authenticate(ctx, services) {
    const principal = await optionalSession.authenticate(ctx, services)
    if (principal === undefined) throw new RequestError('unauthenticated', 'Log in to view this page')
    return principal
  },
}

const ownOriginsOf = ({ browser }: BrowserServices) => browser.ownOrigins

/** The same for forms: rejects cross-site requests. */
export const sameSiteSession = sameSite(session, ownOriginsOf)

/** For the log-out, which does not need a session. */
export const sameSiteLogOut = sameSite(optionalSession, ownOriginsOf)

/** Rejects cross-site requests. Ignores an existing session, since the log-in starts a new one. */
export const sameSiteLogIn = sameSite(publicAccess, ownOriginsOf)

type SessionRequest = Pick<EndpointContext, 'cookies' | 'method' | 'state'>

/** Accepts only access tokens of browser sessions; those of API clients do not open pages. */
async function sessionIn(
  ctx: SessionRequest,
  { sessions: { tokens }, feed, cookie }: BrowserServices['browser'],
): Promise<BearerPrincipal | undefined> {
  const token = ctx.cookies.get(cookie.name)
  const claims = token === undefined ? 'invalid' : tokens.verify(token)
  if (typeof claims === 'string' || claims.client !== BROWSER_CLIENT.client) return undefined
  return (await isTokenActive(ctx, claims, feed)) ? claims : undefined
}
