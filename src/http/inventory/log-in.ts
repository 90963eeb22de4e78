import { z } from 'zod'
import { BROWSER, openSession } from '../../commands/sessions/sessions.ts'
import { endSession } from '../../commands/sessions/presented-token.ts'
import { GrantRefused } from '../../domain/session/session.ts'
import { seeOther, type Answer } from '../kit/answer.ts'
import { originFor, originOf } from '../kit/authenticate.ts'
import { endpoint, type Body } from '../kit/endpoint.ts'
import { html, NOTHING, upFrom, type Html } from '../kit/html.ts'
import { parameters } from '../kit/parameters/parameters.ts'
import { alert, inventoryFamily, pageAnswer } from './layout.ts'
import { forgotten, formVisitor, kept, loggingIn, type BrowserServices } from './session.ts'

/** Bytes of the form: the longest password that means anything takes far fewer. */
const FORM_LIMIT = 16 * 1024

const text = z.string('must be text').default('')

const Form = parameters(
  {
    email: text.describe("The account's e-mail address.").meta({ examples: ['ann@example.com'] }),
    password: text.describe('Its password.'),
  },
  { rules: 'rack', upTo: FORM_LIMIT },
)

type LogIn = z.output<typeof Form.schema>

/** What is typed here stands in the form alone: an address in a history or in a proxy's log holds no password. */
const form: Body<LogIn> = { ...Form, read: (ctx) => Form.read(ctx, { search: '' }) }

export const logInByPage = endpoint({
  name: 'logInByPage',
  method: 'POST',
  path: '/inventory',
  about: 'What the log-in of the inventory does: opens a session in this browser, for 12 hours.',
  who: loggingIn,
  body: form,
  answers: {
    303: { about: 'It is open', headers: { Location: 'The inventory', 'Set-Cookie': 'What the session is known by' } },
    403: 'Address and password do not belong together, or the form is of another site',
    429: 'Too many wrong passwords for this account or from this address',
  },
  family: inventoryFamily,
  async run(asked, { browser: { sessions, cookie } }: BrowserServices) {
    const { body, address, search, target } = asked
    const logIn = { username: body.email, password: body.password, address, client: BROWSER }
    try {
      if (body.email === '' || body.password === '') throw new GrantRefused('Both are needed')
      const { accessToken } = await openSession(sessions, logIn, {
        ...originFor(undefined, asked),
        client: BROWSER.client,
      })
      return seeOther(inventoryAt(target, search), { ...kept(cookie, accessToken), 'Cache-Control': 'no-store' })
    } catch (error) {
      if (!(error instanceof GrantRefused)) throw error
      return logInPage(403, alert(WRONG), body.email)
    }
  },
})

const WRONG = 'The e-mail address and the password do not belong together.'

export const logOutByPage = endpoint({
  name: 'logOutByPage',
  method: 'POST',
  path: '/inventory/log-out',
  about: 'What the log-out button of the inventory does: ends the session of this browser.',
  who: formVisitor,
  answers: {
    303: { about: 'It is ended, if there was one', headers: { Location: 'The log-in' } },
  },
  family: inventoryFamily,
  async run(asked, { browser: { sessions, cookie } }: BrowserServices) {
    const { asker, target } = asked
    if (asker !== undefined)
      await endSession(sessions, asker.session, originOf({ asker, requestId: asked.requestId, trace: asked.trace }))
    return seeOther(`${upFrom(target)}../inventory`, { ...forgotten(cookie), 'Cache-Control': 'no-store' })
  },
})

/** Where the list is, seen from itself, with the filters that were asked for before the log-in. */
function inventoryAt(target: string, search: string): string {
  const query = new URLSearchParams(search).toString()
  return `${upFrom(target)}inventory${query === '' ? '' : `?${query}`}`
}

/** Posts to where it stands, so that who came with filters finds them again. */
export const logInPage = (status: number, said: Html = NOTHING, email = ''): Answer =>
  pageAnswer({
    status,
    title: 'Your inventory',
    content: html`${said}
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
