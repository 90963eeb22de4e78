import { z } from 'zod'
import { BROWSER_CLIENT, openSession } from '../../commands/sessions/sessions.ts'
import { endSession } from '../../commands/sessions/token-introspection.ts'
import { InvalidGrant } from '../../domain/session/session.ts'
import { seeOther, type HttpResponse } from '../kit/response.ts'
import { eventOriginFor, eventOriginOf } from '../kit/authenticate.ts'
import { endpoint } from '../kit/endpoint.ts'
import { html, NOTHING, type Html } from '../kit/html.ts'
import { alert, pathToRoot } from '../kit/page.ts'
import { defineParameters } from '../kit/parameters/parameters.ts'
import { inventoryPagesGroup, narrowPage } from './layout.ts'
import {
  clearSessionCookie,
  sameSiteSession,
  setSessionCookie,
  sameSiteLogIn,
  type BrowserServices,
} from './session.ts'

/** Bytes. The longest valid form is much smaller. */
const FORM_LIMIT = 16 * 1024

const text = z.string('must be text').default('')

const Form = defineParameters(
  {
    email: text.describe("The account's e-mail address.").meta({ examples: ['ann@example.com'] }),
    password: text.describe('The password of the account.'),
  },
  // A password in the query would end up in browser histories and proxy logs.
  { rules: 'rack', maxBytes: FORM_LIMIT, ignoresQuery: true },
)

export const logInByPage = endpoint({
  operationId: 'logInByPage',
  method: 'POST',
  path: '/inventory',
  summary: 'Log in to the inventory in the browser. Starts a session of 12 hours.',
  auth: sameSiteLogIn,
  body: Form,
  responses: {
    303: {
      description: 'Logged in',
      headers: { Location: 'The inventory', 'Set-Cookie': 'The session cookie' },
    },
    403: 'Wrong e-mail address or password, or a cross-site request',
    429: 'Too many wrong passwords for this account or from this address',
  },
  group: inventoryPagesGroup,
  async handler(ctx, { browser: { sessions, cookie } }: BrowserServices) {
    const { email, password } = ctx.request.body
    const logIn = { username: email, password, address: ctx.ip, client: BROWSER_CLIENT }
    try {
      if (email === '' || password === '') throw new InvalidGrant('E-mail address and password are required')
      const { accessToken } = await openSession(sessions, logIn, {
        ...eventOriginFor(undefined, ctx.state),
        client: BROWSER_CLIENT.client,
      })
      return seeOther(inventoryAt(ctx.originalUrl, ctx.querystring), {
        ...setSessionCookie(cookie, accessToken),
        'Cache-Control': 'no-store',
      })
    } catch (error) {
      if (!(error instanceof InvalidGrant)) throw error
      return logInPage(403, ctx.originalUrl, alert(WRONG_CREDENTIALS), email)
    }
  },
})

const WRONG_CREDENTIALS = 'Wrong e-mail address or password.'

export const logOutByPage = endpoint({
  operationId: 'logOutByPage',
  method: 'POST',
  path: '/inventory/log-out',
  summary: 'Log out of the inventory in the browser',
  auth: sameSiteSession,
  responses: {
    303: { description: 'Logged out, or there was no session', headers: { Location: 'The log-in form' } },
  },
  group: inventoryPagesGroup,
  async handler(ctx, { browser: { sessions, cookie } }: BrowserServices) {
    const { principal } = ctx.state
    if (principal !== undefined)
      await endSession(sessions, principal.session, eventOriginOf({ state: { ...ctx.state, principal } }))
    return seeOther(`${pathToRoot(ctx.originalUrl)}inventory`, {
      ...clearSessionCookie(cookie),
      'Cache-Control': 'no-store',
    })
  },
})

/** The relative URL of the inventory, with the filters that were in the URL before the log-in. */
function inventoryAt(target: string, search: string): string {
  const query = new URLSearchParams(search).toString()
  return `${pathToRoot(target)}inventory${query === '' ? '' : `?${query}`}`
}

/** The form posts to its own URL, so that filters in it are kept. */
export const logInPage = (status: number, target: string, errorMessage: Html = NOTHING, email = ''): HttpResponse =>
  narrowPage({
    status,
    title: 'Your inventory',
    home: pathToRoot(target),
    content: html`${errorMessage}
      <p>Log in with your account to view your stones. These pages are read-only.</p>
      <form method="post">
        <div>
          <label for="email">E-mail address</label>
          <input id="email" name="email" type="email" required autocomplete="username" value="${email}" />
        </div>
        <div>
          <label for="password">Password</label>
          <input id="password" name="password" type="password" required autocomplete="current-password" />
        </div>
        <button type="submit">Log in</button>
      </form>
      <p class="soft">You stay logged in for 12 hours, or until you log out.</p>`,
  })
