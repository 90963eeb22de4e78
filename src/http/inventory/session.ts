import { BROWSER, BROWSER_TTL, type OpeningSessions } from '../../commands/sessions/sessions.ts'
import type { AccessClaims } from '../../credentials/access-tokens.ts'
import { isStillLive, type Bearer, type Caller } from '../kit/authenticate.ts'
import { refuseCrossSite, type Sites } from '../middleware/cors.ts'
import type { Asked, Who } from '../kit/endpoint.ts'

/** What sessions in a browser are opened and checked with: those of the token server, but for how long they last. */
export type BrowserSessions = {
  readonly sessions: OpeningSessions
  readonly feed: Bearer['feed']
}

export type BrowserServices = {
  readonly browser: BrowserSessions & {
    readonly cookie: SessionCookie
    /** Addresses that are this service's own: only their pages may post here. */
    readonly own: Sites['own']
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
export const kept = ({ name, attributes }: SessionCookie, token: string) => ({
  'Set-Cookie': `${name}=${token}; Max-Age=${BROWSER_TTL}; ${attributes}`,
})

/** Has a browser forget it. */
export const forgotten = ({ name, attributes }: SessionCookie) => ({
  'Set-Cookie': `${name}=; Max-Age=0; ${attributes}`,
})

/** Whoever is logged in in this browser; undefined for everybody else, who is shown the log-in. */
export const visitor: Who<Caller | undefined, BrowserServices> = {
  scheme: 'cookie',
  refuses: [],
  admit: (asked, { browser }) => sessionIn(asked, browser),
}

/** As `visitor`, by a button of these pages: a page of another site could send the same form. */
export const formVisitor: Who<Caller | undefined, BrowserServices> = {
  scheme: 'cookie',
  refuses: [403],
  admit(asked, { browser }) {
    refuseCrossSite(asked.headers, { own: browser.own, allowed: new Set() })
    return sessionIn(asked, browser)
  },
}

/** No session is looked for: who logs in opens a new one, whatever the browser has. */
export const loggingIn: Who<undefined, BrowserServices> = {
  scheme: 'none',
  refuses: [403],
  admit({ headers }, { browser }) {
    refuseCrossSite(headers, { own: browser.own, allowed: new Set() })
    return undefined
  },
}

type Request = Pick<Asked, 'cookie' | 'method' | 'patience'>

/** A program's access token opens no page, as a browser's opens no API. */
function sessionIn(
  asked: Request,
  { sessions: { tokens }, feed, cookie }: BrowserServices['browser'],
): Caller | undefined | Promise<Caller | undefined> {
  const token = asked.cookie(cookie.name)
  const claims = token === undefined ? 'invalid' : tokens.verify(token)
  if (typeof claims === 'string' || claims.client !== BROWSER.client) return undefined
  const ifLive = (live: boolean): AccessClaims | undefined => (live ? claims : undefined)
  const live = isStillLive(asked, claims, feed)
  return typeof live === 'boolean' ? ifLive(live) : live.then(ifLive)
}
