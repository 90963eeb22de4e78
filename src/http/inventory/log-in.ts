import { z } from 'zod'
import { BROWSER_CLIENT, openSession } from '../../commands/sessions/sessions.ts'
import { endSession } from '../../commands/sessions/token-introspection.ts'
import { InvalidGrant } from '../../domain/session/session.ts'
import { seeOther } from '../kit/response.ts'
import { eventOriginFor, eventOriginOf } from '../kit/authenticate.ts'
import { endpoint } from '../kit/endpoint.ts'
import { alert, pathToRoot } from '../kit/page.ts'
import { defineParameters } from '../kit/parameters/parameters.ts'
import { ownPageIn } from './forms.ts'
import { inventoryPagesGroup, logInPage, pageIn } from './layout.ts'
import { clearSessionCookie, sameSiteLogOut, setSessionCookie, sameSiteLogIn, type BrowserServices } from './session.ts'

/** Bytes. The longest valid form is much smaller. */
const FORM_LIMIT = 16 * 1024

const text = z.string('must be text').default('')

const Form = defineParameters(
  {
    email: text.describe("The account's e-mail address.").meta({ examples: ['ann@example.com'] }),
    password: text.describe('The password of the account.'),
    page: text.describe('The page to show after the log-in, such as `inventory/7`; the requested one if absent.'),
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
      headers: { Location: 'The page', 'Set-Cookie': 'The session cookie' },
    },
    403: 'Wrong e-mail address or password, or a cross-site request',
    429: 'Too many wrong passwords for this account or from this address',
  },
  group: inventoryPagesGroup,
  async handler(ctx, { browser: { sessions, cookie } }: BrowserServices) {
    const { email, password, page } = ctx.request.body
    // A page of another site is ignored.
    const wantedPage = ownPageIn(page) ?? pageIn(ctx.originalUrl)
    const logIn = { username: email, password, address: ctx.ip, client: BROWSER_CLIENT }
    try {
      if (email === '' || password === '') throw new InvalidGrant('E-mail address and password are required')
      const { accessToken } = await openSession(sessions, logIn, {
        ...eventOriginFor(undefined, ctx.state),
        client: BROWSER_CLIENT.client,
      })
      return seeOther(`${pathToRoot(ctx.originalUrl)}${wantedPage}`, {
        ...setSessionCookie(cookie, accessToken),
        'Cache-Control': 'no-store',
      })
    } catch (error) {
      if (!(error instanceof InvalidGrant)) throw error
      const errorMessage = alert('Wrong e-mail address or password.')
      return logInPage({ status: 403, target: ctx.originalUrl, page: wantedPage, errorMessage, email })
    }
  },
})

export const logOutByPage = endpoint({
  operationId: 'logOutByPage',
  method: 'POST',
  path: '/inventory/log-out',
  summary: 'Log out of the inventory in the browser',
  auth: sameSiteLogOut,
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
