import { BROWSER_CLIENT, BROWSER_SESSION_TTL_SECONDS, type LogInContext } from '../../commands/sessions/sessions.ts'
import type { AccessClaims } from '../../credentials/access-tokens.ts'
import { isTokenActive, type BearerAuthentication, type BearerPrincipal } from '../kit/authenticate.ts'
import { refuseCrossSite, type TrustedOrigins } from '../middleware/cors.ts'
import type { HttpRequest, Authenticator } from '../kit/endpoint.ts'

/** What sessions in a browser are opened and checked with: those of the token server, but for how long they last. */
export type BrowserSessions = {
  readonly sessions: LogInContext
  readonly feed: BearerAuthentication['feed']
}

export type BrowserServices = {
  readonly browser: BrowserSessions & {
    readonly cookie: SessionCookie
    /** Addresses that are this service's own: only their pages may post here. */
    readonly ownOrigins: TrustedOrigins['ownOrigins']
  }
}

/** The cookie that holds the access token of a session. */
export type SessionCookie = { readonly name: string; readonly attributes: string }

/** @param isHttps whether browsers come by https: then no other host, and nobody on the way, can set or read it */
export const cookieFor = (isHttps: boolean): SessionCookie => ({
  name: isHttps ? '__Host-adamant' : 'adamant',
  attributes: `Path=/; HttpOnly; SameSite=Lax${isHttps ? '; Secure' : ''}`,
})

/** Has a browser keep a session's token for as long as it is good. */
export const setSessionCookie = ({ name, attributes }: SessionCookie, token: string) => ({
  'Set-Cookie': `${name}=${token}; Max-Age=${BROWSER_SESSION_TTL_SECONDS}; ${attributes}`,
})

/** Has a browser forget it. */
export const clearSessionCookie = ({ name, attributes }: SessionCookie) => ({
  'Set-Cookie': `${name}=; Max-Age=0; ${attributes}`,
})

/** Whoever is logged in in this browser; undefined for everybody else, who is shown the log-in. */
export const visitor: Authenticator<BearerPrincipal | undefined, BrowserServices> = {
  scheme: 'cookie',
  errorStatuses: [],
  authenticate: (request, { browser }) => sessionIn(request, browser),
}

/** As `visitor`, by a button of these pages: a page of another site could send the same form. */
export const formVisitor: Authenticator<BearerPrincipal | undefined, BrowserServices> = {
  scheme: 'cookie',
  errorStatuses: [403],
  authenticate(request, { browser }) {
    refuseCrossSite(request.headers, { ownOrigins: browser.ownOrigins, allowedOrigins: new Set() })
    return sessionIn(request, browser)
  },
}

/** No session is looked for: who logs in opens a new one, whatever the browser has. */
export const sameSiteLogIn: Authenticator<undefined, BrowserServices> = {
  scheme: 'none',
  errorStatuses: [403],
  authenticate({ headers }, { browser }) {
    refuseCrossSite(headers, { ownOrigins: browser.ownOrigins, allowedOrigins: new Set() })
    return undefined
  },
}

type SessionRequest = Pick<HttpRequest, 'cookie' | 'method' | 'waitBudget'>

/** A program's access token opens no page, as a browser's opens no API. */
function sessionIn(
  request: SessionRequest,
  { sessions: { tokens }, feed, cookie }: BrowserServices['browser'],
): BearerPrincipal | undefined | Promise<BearerPrincipal | undefined> {
  const token = request.cookie(cookie.name)
  const claims = token === undefined ? 'invalid' : tokens.verify(token)
  if (typeof claims === 'string' || claims.client !== BROWSER_CLIENT.client) return undefined
  const ifLive = (live: boolean): AccessClaims | undefined => (live ? claims : undefined)
  const live = isTokenActive(request, claims, feed)
  return typeof live === 'boolean' ? ifLive(live) : live.then(ifLive)
}
