import { z } from 'zod'
import { BROWSER_CLIENT, openSession } from '../../commands/sessions/sessions.ts'
import { endSession } from '../../commands/sessions/token-introspection.ts'
import { InvalidGrant } from '../../domain/session/session.ts'
import { seeOther, type HttpResponse } from '../kit/response.ts'
import { eventOriginFor, eventOriginOf } from '../kit/authenticate.ts'
import { endpoint, type RequestBody } from '../kit/endpoint.ts'
import { html, NOTHING, relativePrefixOf, type Html } from '../kit/html.ts'
import { defineParameters } from '../kit/parameters/parameters.ts'
import { alert, inventoryPagesGroup, inventoryPageResponse } from './layout.ts'
import { clearSessionCookie, formVisitor, setSessionCookie, sameSiteLogIn, type BrowserServices } from './session.ts'

/** Bytes of the form: the longest password that means anything takes far fewer. */
const FORM_LIMIT = 16 * 1024

const text = z.string('must be text').default('')

const Form = defineParameters(
  {
    email: text.describe("The account's e-mail address.").meta({ examples: ['ann@example.com'] }),
    password: text.describe('Its password.'),
  },
  { rules: 'rack', maxBytes: FORM_LIMIT },
)

type LogInForm = z.output<typeof Form.schema>

/** What is typed here stands in the form alone: an address in a history or in a proxy's log holds no password. */
const form: RequestBody<LogInForm> = { ...Form, read: (ctx) => Form.read(ctx, { search: '' }) }

export const logInByPage = endpoint({
  operationId: 'logInByPage',
  method: 'POST',
  path: '/inventory',
  summary: 'What the log-in of the inventory does: opens a session in this browser, for 12 hours.',
  auth: sameSiteLogIn,
  body: form,
  responses: {
    303: {
      description: 'It is open',
      headers: { Location: 'The inventory', 'Set-Cookie': 'What the session is known by' },
    },
    403: 'Address and password do not belong together, or the form is of another site',
    429: 'Too many wrong passwords for this account or from this address',
  },
  group: inventoryPagesGroup,
  async handler(request, { browser: { sessions, cookie } }: BrowserServices) {
    const { body, clientAddress, search, target } = request
    const logIn = { username: body.email, password: body.password, address: clientAddress, client: BROWSER_CLIENT }
    try {
      if (body.email === '' || body.password === '') throw new InvalidGrant('Both are needed')
      const { accessToken } = await openSession(sessions, logIn, {
        ...eventOriginFor(undefined, request),
        client: BROWSER_CLIENT.client,
      })
      return seeOther(inventoryAt(target, search), {
        ...setSessionCookie(cookie, accessToken),
        'Cache-Control': 'no-store',
      })
    } catch (error) {
      if (!(error instanceof InvalidGrant)) throw error
      return logInPage(403, alert(WRONG), body.email)
    }
  },
})

const WRONG = 'The e-mail address and the password do not belong together.'

export const logOutByPage = endpoint({
  operationId: 'logOutByPage',
  method: 'POST',
  path: '/inventory/log-out',
  summary: 'What the log-out button of the inventory does: ends the session of this browser.',
  auth: formVisitor,
  responses: {
    303: { description: 'It is ended, if there was one', headers: { Location: 'The log-in' } },
  },
  group: inventoryPagesGroup,
  async handler(request, { browser: { sessions, cookie } }: BrowserServices) {
    const { principal, target } = request
    if (principal !== undefined)
      await endSession(
        sessions,
        principal.session,
        eventOriginOf({ principal, requestId: request.requestId, trace: request.trace }),
      )
    return seeOther(`${relativePrefixOf(target)}../inventory`, {
      ...clearSessionCookie(cookie),
      'Cache-Control': 'no-store',
    })
  },
})

/** Where the list is, seen from itself, with the filters that were asked for before the log-in. */
function inventoryAt(target: string, search: string): string {
  const query = new URLSearchParams(search).toString()
  return `${relativePrefixOf(target)}inventory${query === '' ? '' : `?${query}`}`
}

/** Posts to where it stands, so that who came with filters finds them again. */
export const logInPage = (status: number, errorMessage: Html = NOTHING, email = ''): HttpResponse =>
  inventoryPageResponse({
    status,
    title: 'Your inventory',
    content: html`${errorMessage}
      <p>Log in with your account to look at your stones. Nothing can be changed here.</p>
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
      <p class="soft">You stay logged in in this browser for 12 hours, or until you log out.</p>`,
  })
