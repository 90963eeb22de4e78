import { z } from 'zod'
import { RequestError } from '../../domain/request-error.ts'
import { checkSecret } from '../../domain/secret/secret.ts'
import { VERSION } from '../../runtime/version.ts'
import { ok, seeOther } from '../kit/response.ts'
import { publicAccess, endpoint, type EndpointGroup } from '../kit/endpoint.ts'
import { ErrorWithForm, platformGroup } from '../kit/errors.ts'
import { html, NOTHING, option, type Html } from '../kit/html.ts'
import { CARD, CONTROLS, definePages, errorPages, pathToRoot } from '../kit/page.ts'
import type { UrlServices } from '../kit/public-urls.ts'
import { FormParameters } from '../secrets/parameters.ts'
import {
  countAccount,
  countAddress,
  unlimitedSameSiteForm,
  type AuthenticatedSender,
  type SecretServices,
} from '../secrets/authentication.ts'
import { storeSharedSecret } from '../secrets/secrets.ts'

const ApiRoot = z.object({
  name: z.literal('Adamant'),
  version: z.string(),
  links: z
    .object({ docs: z.url(), openapi: z.url(), health: z.url(), constants: z.url(), diamonds: z.url(), token: z.url() })
    .describe('Entry points of the API.'),
})

export const showFrontPage = endpoint({
  operationId: 'showFront',
  method: 'GET',
  path: '/',
  summary: 'Retrieve the entry points: a web page for browsers, JSON for API clients',
  auth: publicAccess,
  requestHeaders: { Accept: z.string().optional().describe('`text/html` returns the web page.') },
  responses: { 200: { description: 'The entry points', schema: ApiRoot } },
  group: platformGroup,
  handler(ctx, { urls, secrets }: UrlServices & SecretServices) {
    if (ctx.accepts('json', 'html') !== 'html') return ok(createApiRoot(urls.base), { Vary: 'Accept' })
    const root = pathToRoot(ctx.originalUrl)
    const content = html`${INTRODUCTION} ${mainNav(root)}
      <h2>Share a secret</h2>
      <p>It can be revealed once and is then deleted.</p>
      ${shareForm(secrets.allowsAnonymous, `${root}share`)}`
    return frontPage({ status: 200, title: 'Adamant', content }, { 'Cache-Control': 'public, no-cache' })
  },
})

function createApiRoot(baseUrl: string): z.output<typeof ApiRoot> {
  const urlOf = (path: string) => `${baseUrl}/${path}`
  return {
    name: 'Adamant',
    version: VERSION,
    links: {
      docs: urlOf('docs'),
      openapi: urlOf('openapi.json'),
      health: urlOf('health/ready'),
      constants: urlOf('v2/constants'),
      diamonds: urlOf('v4/diamond'),
      token: urlOf('api/oauth/v2/token'),
    },
  }
}

const INTRODUCTION = html`<p>
  A diamond inventory for vendors and for platforms that show their stones: records, laboratory reports, optical scores,
  and a full change history.
</p>`

const mainNav = (root: string): Html =>
  html`<nav aria-label="Main">
    <ul>
      <li><a href="${root}inventory">Your inventory</a> (log-in required)</li>
      <li><a href="${root}docs">API reference</a> (interactive)</li>
      <li><a href="${root}openapi.json">OpenAPI 3.1 document</a></li>
      <li><a href="${root}v2/constants">Constants and dictionaries</a></li>
      <li><a href="${root}health/ready">Readiness check</a>, release ${VERSION}</li>
    </ul>
  </nav>`

/**
 * The previous input, so that an error loses neither the text nor its passphrase: a secret that is sent again must not be
 * shared without one. The token is a credential, and must be typed again.
 */
type ShareFormInput = {
  readonly secret: string
  readonly passphrase: string
  readonly email: string
  readonly ttl?: number | undefined
}

/**
 * @param allowsAnonymous whether sharing needs no account
 * @param action relative, because a proxy may add a path prefix
 */
const shareForm = (allowsAnonymous: boolean, action: string, input: ShareFormInput = EMPTY_INPUT): Html =>
  html`<form method="post" action="${action}">
    <div>
      <label for="secret">The secret</label>
      ${secretTextarea(input.secret)}
    </div>
    <div>
      <label for="passphrase">Passphrase <span class="soft">(optional; give it to the reader separately)</span></label>
      <input
        id="passphrase"
        name="passphrase"
        type="password"
        autocomplete="new-password"
        autocapitalize="none"
        value="${input.passphrase}"
      />
    </div>
    <div>
      <label for="ttl">Expires after</label>
      <select id="ttl" name="ttl">
        ${LIFETIMES.map(([seconds, name]) => option(seconds, name, seconds === (input.ttl ?? DEFAULT_LIFETIME_SECONDS)))}
      </select>
    </div>
    ${allowsAnonymous ? NOTHING : credentials(input)}
    <button type="submit">Create a one-time link</button>
  </form>`

const EMPTY_INPUT: ShareFormInput = { secret: '', passphrase: '', email: '' }

/** Adds a line feed after the opening tag, because browsers drop the first one. */
const secretTextarea = (secret: string): Html => {
  const text = `\n${secret}`
  return html`<textarea id="secret" name="secret" required spellcheck="false" autocomplete="off">${text}</textarea>`
}

const LIFETIMES = [
  [3_600, 'an hour'],
  [86_400, 'a day'],
  [604_800, 'a week'],
  [2_592_000, '30 days'],
] as const

const DEFAULT_LIFETIME_SECONDS = 604_800

const credentials = ({ email }: ShareFormInput): Html =>
  html`<div>
      <label for="email">Your e-mail address</label>
      <input id="email" name="email" type="email" required autocomplete="username" value="${email}" />
    </div>
    <div>
      <label for="token">Your API token</label>
      <input id="token" name="token" type="password" required autocomplete="current-password" autocapitalize="none" />
      <p class="soft">Your operator creates it with <code>adamant token add</code>.</p>
    </div>`

const frontPage = definePages({
  style: `${CARD}${CONTROLS}
nav ul{padding:0;margin:0 0 1rem;list-style:none}
nav li{padding:.5rem 0;border-top:1px solid var(--line)}
`,
  policy: { 'img-src': "'self' data:", 'form-action': "'self'" },
  headers: { 'X-Frame-Options': 'DENY', Vary: 'Accept' },
})

/** For a page that contains user input, so it must not be cached or indexed. */
const PRIVATE = { 'Cache-Control': 'no-store', 'X-Robots-Tag': 'noindex, nofollow' }

const frontPageGroup: EndpointGroup = {
  tag: 'Front page',
  pathPrefixes: ['/share'],
  ...errorPages(
    (page) => frontPage({ ...page, title: page.status === 404 ? page.title : 'The secret was not shared' }, PRIVATE),
    (status) => (status === 404 ? '' : 'No link was created.'),
  ),
}

export const shareSecretByPage = endpoint({
  operationId: 'shareSecretByPage',
  method: 'POST',
  path: '/share',
  summary: 'Share a secret with the form on the front page. Redirects to the page with its link.',
  auth: unlimitedSameSiteForm,
  body: FormParameters,
  responses: {
    303: {
      description: 'The secret was shared',
      headers: { Location: "The sender's page, with the link to the secret" },
    },
    403: 'Wrong e-mail address or API token, or a cross-site request',
    413: 'The secret is longer than the plan allows',
    422: 'Validation failed: for example, the secret is empty',
    429: 'Too many wrong API tokens, or too many requests',
  },
  group: frontPageGroup,
  async handler(ctx, { secrets }: SecretServices) {
    const { body } = ctx.request
    try {
      countAddress(secrets.rateLimit, ctx.ip)
      const sender = await senderOf(body, ctx.ip, secrets)
      checkSecret(body.secret, sender?.plan ?? 'basic')
      const record = await storeSharedSecret(secrets, ctx, {
        value: body.secret,
        kind: 'shared',
        options: body,
        sender,
      })
      return seeOther(`${pathToRoot(ctx.originalUrl)}private/${String(record['metadata_key'])}`, {
        'Cache-Control': 'no-store',
      })
    } catch (error) {
      throw new ErrorWithForm(shareForm(secrets.allowsAnonymous, `${pathToRoot(ctx.originalUrl)}share`, body), error)
    }
  },
})

/** @throws RequestError forbidden if e-mail address or token are wrong, or missing while required; too-many */
async function senderOf(
  { email, token }: { readonly email: string; readonly token: string },
  clientAddress: string,
  { allowsAnonymous, apiTokens, rateLimit }: SecretServices['secrets'],
): Promise<AuthenticatedSender | undefined> {
  if (email === '' && token === '' && allowsAnonymous) return undefined
  const tokenHolder = await apiTokens.verify({ email, token, address: clientAddress })
  if (tokenHolder === undefined) throw new RequestError('forbidden', 'Wrong e-mail address or API token')
  countAccount(rateLimit, tokenHolder.account)
  return { ...tokenHolder, token }
}
