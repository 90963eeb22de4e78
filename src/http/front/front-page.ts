import { z } from 'zod'
import { RequestError } from '../../domain/decider.ts'
import { checkSecret } from '../../domain/secret/secret.ts'
import { VERSION } from '../../runtime/version.ts'
import { ok, seeOther, type HttpResponse } from '../kit/response.ts'
import { refuseCrossSite } from '../middleware/cors.ts'
import { publicAccess, endpoint, type EndpointGroup, type Authenticator } from '../kit/endpoint.ts'
import { platformGroup, toHttpErrorDetails } from '../kit/errors.ts'
import { escape, html, htmlDocument, NOTHING, sourceHash, relativePrefixOf, type Html } from '../kit/html.ts'
import { GEM, STYLE as SECRETS_STYLE } from '../secret-pages/layout.ts'
import { FormParameters } from '../secrets/parameters.ts'
import { countAccount, countAddress, type SecretServices, type AuthenticatedSender } from '../secrets/authentication.ts'
import { storeSharedSecret } from '../secrets/secrets.ts'

/** As the pages of secrets look, with what a form for sharing needs beside. */
const STYLE = `${SECRETS_STYLE}
textarea,select{width:100%;padding:.75rem;font:inherit;color:inherit;background:var(--well);border:1px solid var(--soft);border-radius:.5rem}
textarea{min-height:7rem;resize:vertical}
a{color:var(--deed)}
form>div{margin-bottom:1rem}
nav ul{padding:0;margin:0 0 1rem;list-style:none}
nav li{padding:.5rem 0;border-top:1px solid var(--line)}
`

const POLICY = [
  "default-src 'none'",
  `style-src ${sourceHash(STYLE)}`,
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

export type FrontPage = {
  readonly status: number
  readonly title: string
  readonly content: Html
  /** What it shows was typed by somebody: nothing of it is for a cache or a search engine. */
  readonly isPrivate: boolean
}

/** A whole page without scripts and outside resources. */
const frontPageResponse = ({ status, title, content, isPrivate }: FrontPage): HttpResponse => ({
  status,
  headers: {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': POLICY,
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'no-referrer',
    Vary: 'Accept',
    'Cache-Control': isPrivate ? 'no-store' : 'public, no-cache',
    ...(isPrivate && { 'X-Robots-Tag': 'noindex, nofollow' }),
  },
  body: htmlDocument({
    title,
    style: STYLE,
    body: `<main>\n${GEM}\n<h1>${escape(title)}</h1>\n${content.html}\n</main>\n`,
  }),
})

/** What was typed before, so that a mistake costs nobody their text. Passphrase and token are typed again. */
export type ShareFormInput = { readonly secret: string; readonly email: string; readonly ttl?: number | undefined }

const EMPTY_INPUT: ShareFormInput = { secret: '', email: '' }

const LIFETIMES = [
  [3_600, 'an hour'],
  [86_400, 'a day'],
  [604_800, 'a week'],
  [2_592_000, '30 days'],
] as const

/** Seconds of the one that is chosen before anybody chooses. */
const DEFAULT_LIFETIME_SECONDS = 604_800

/**
 * The form that shares a secret.
 * @param isOpen whether it needs no account
 * @param action relative, as a proxy may add a path
 */
const shareForm = (isOpen: boolean, action: string, typed: ShareFormInput = EMPTY_INPUT): Html =>
  html`<form method="post" action="${action}">
    <div>
      <label for="secret">The secret</label>
      ${secretTextarea(typed.secret)}
    </div>
    <div>
      <label for="passphrase"
        >Passphrase <span class="soft">(optional; tell it to the reader by another way)</span></label
      >
      <input id="passphrase" name="passphrase" type="password" autocomplete="new-password" autocapitalize="none" />
    </div>
    <div>
      <label for="ttl">Deleted unread after</label>
      <select id="ttl" name="ttl">
        ${LIFETIMES.map(([seconds, name]) => lifetimeOption(seconds, name, typed.ttl ?? DEFAULT_LIFETIME_SECONDS))}
      </select>
    </div>
    ${isOpen ? NOTHING : credentials(typed)}
    <button type="submit">Make a link that opens once</button>
  </form>`

/** Browsers drop a line feed right behind the opening tag: one that is put there, and none that was typed. */
const secretTextarea = (typed: string): Html => {
  const text = `\n${typed}`
  return html`<textarea id="secret" name="secret" required spellcheck="false" autocomplete="off">${text}</textarea>`
}

const lifetimeOption = (seconds: number, name: string, chosen: number): Html =>
  html`<option value="${String(seconds)}" ${seconds === chosen ? SELECTED : NOTHING}>${name}</option>`

const SELECTED: Html = { html: 'selected' }

const credentials = ({ email }: ShareFormInput): Html =>
  html`<div>
      <label for="email">Your e-mail address</label>
      <input id="email" name="email" type="email" required autocomplete="username" value="${email}" />
    </div>
    <div>
      <label for="token">Your API token</label>
      <input id="token" name="token" type="password" required autocomplete="current-password" autocapitalize="none" />
      <p class="soft">The operator gives it to you: <code>npx adamant token add</code>.</p>
    </div>`

export type FrontServices = SecretServices & {
  /** BASE_URL, without a slash at its end. */
  readonly front: { readonly baseUrl: string }
}

const ApiRoot = z.object({
  name: z.literal('Adamant'),
  version: z.string(),
  links: z
    .object({ docs: z.url(), openapi: z.url(), health: z.url(), constants: z.url(), diamonds: z.url(), token: z.url() })
    .describe('Where a program goes on.'),
})

export const showFrontPage = endpoint({
  operationId: 'showFront',
  method: 'GET',
  path: '/',
  summary: 'What this is, and where to go on: a page for people, JSON for programs.',
  auth: publicAccess,
  requestHeaders: { Accept: z.string().optional().describe('`text/html` gets the page.') },
  responses: { 200: { description: 'Where to go on', schema: ApiRoot } },
  group: platformGroup,
  handler(request, { front, secrets }: FrontServices) {
    if (request.accepts('json', 'html') !== 'html') return ok(createApiRoot(front.baseUrl), { Vary: 'Accept' })
    // Its path has a slash at its end and is no folder: of what doubled ones add, one counts less.
    const up = relativePrefixOf(request.target).slice('../'.length)
    const content = html`${INTRODUCTION} ${pages(up)}
      <h2>Share a secret</h2>
      <p>It is shown to one reader, one time, and then deleted.</p>
      ${shareForm(secrets.allowsAnonymous, `${up}share`)}`
    return frontPageResponse({ status: 200, title: 'Adamant', content, isPrivate: false })
  },
})

function createApiRoot(baseUrl: string): z.output<typeof ApiRoot> {
  const at = (path: string) => `${baseUrl}/${path}`
  return {
    name: 'Adamant',
    version: VERSION,
    links: {
      docs: at('docs'),
      openapi: at('openapi.json'),
      health: at('health/ready'),
      constants: at('v2/constants'),
      diamonds: at('v4/diamond'),
      token: at('api/oauth/v2/token'),
    },
  }
}

const INTRODUCTION = html`<p>
  An inventory of diamonds for vendors and the platforms that show their stones: records, laboratory certificates,
  optical scores, and the history of all of it.
</p>`

const pages = (up: string): Html =>
  html`<nav aria-label="Where to go on">
    <ul>
      <li><a href="${up}inventory">Your inventory</a>, to look at after a log-in</li>
      <li><a href="${up}docs">The reference of the API</a>, to read and to try out</li>
      <li><a href="${up}openapi.json">Its description for programs</a> (OpenAPI 3.1)</li>
      <li><a href="${up}v2/constants">The constants of the platform</a></li>
      <li><a href="${up}health/ready">Whether it is ready</a>, release ${VERSION}</li>
    </ul>
  </nav>`

/** Who has pressed the button of this page: a page of another site could send the same form. */
const formSender: Authenticator<undefined, FrontServices> = {
  scheme: 'none',
  errorStatuses: [403, 429],
  authenticate({ headers, clientAddress }, { secrets }) {
    refuseCrossSite(headers, { ownOrigins: secrets.trustedOrigins.ownOrigins, allowedOrigins: new Set() })
    countAddress(secrets.rateLimit, clientAddress)
    return undefined
  },
}

/** Refusals are pages too. */
const frontPageGroup: EndpointGroup = {
  name: 'front',
  pathPrefixes: ['/share'],
  errorFormat: { mediaType: 'text/html' },
  errorResponse({ status, faults }, _error, { requestId }) {
    const content = html`<p>${faults.map(({ message }) => message).join('. ')}.</p>
      <p class="soft">Nothing was shared by this. Request ${requestId}</p>`
    return frontPageResponse({ status, title: 'That did not work', content, isPrivate: true })
  },
}

export const shareSecretByPage = endpoint({
  operationId: 'shareSecretByPage',
  method: 'POST',
  path: '/share',
  summary: 'What the form of the front page does: keeps a secret, and goes to the page with its link.',
  auth: formSender,
  body: FormParameters,
  responses: {
    303: { description: 'It is kept', headers: { Location: "The sender's page, with the link to pass on" } },
    403: 'Address and token do not belong together, or the form is of another site',
    413: 'The secret is longer than the plan allows',
    422: 'There is nothing to share',
  },
  group: frontPageGroup,
  async handler(request, { secrets }: FrontServices) {
    const { body, target, clientAddress } = request
    try {
      const sender = await senderOf(body, clientAddress, secrets)
      checkSecret(body.secret, sender?.plan ?? 'basic')
      const record = await storeSharedSecret(
        secrets,
        { body, principal: sender, clientAddress, requestId: request.requestId, trace: request.trace },
        { value: body.secret, kind: 'shared' },
      )
      return seeOther(`${relativePrefixOf(target)}private/${String(record['metadata_key'])}`, {
        'Cache-Control': 'no-store',
      })
    } catch (error) {
      if (!(error instanceof RequestError) || error.kind === 'too-many') throw error
      return rejectedForm(error, body, secrets.allowsAnonymous)
    }
  },
})

/** @throws Refusal forbidden where address and token do not belong together, or are needed and not there; too-many */
async function senderOf(
  { email, token }: { readonly email: string; readonly token: string },
  clientAddress: string,
  { allowsAnonymous, apiTokens, rateLimit }: SecretServices['secrets'],
): Promise<AuthenticatedSender | undefined> {
  if (email === '' && token === '' && allowsAnonymous) return undefined
  const caller = await apiTokens.verify({ email, token, address: clientAddress })
  if (caller === undefined)
    throw new RequestError('forbidden', 'The e-mail address and the API token do not belong together')
  countAccount(rateLimit, caller.account)
  return { ...caller, token }
}

/** The form once more, with what is wrong and what was typed. */
function rejectedForm(refusal: RequestError, typed: ShareFormInput, isOpen: boolean): HttpResponse {
  const { status, faults } = toHttpErrorDetails(refusal)
  const content = html`<p class="alert" role="alert">${faults.map(({ message }) => message).join('. ')}</p>
    ${shareForm(isOpen, 'share', typed)}`
  return frontPageResponse({ status, title: 'Nothing was shared yet', content, isPrivate: true })
}
