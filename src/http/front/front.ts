import { z } from 'zod'
import { Refusal } from '../../domain/decider.ts'
import { checkSecret } from '../../domain/secret/secret.ts'
import { VERSION } from '../../runtime/version.ts'
import { ok, seeOther, type Answer } from '../kit/answer.ts'
import { refuseCrossSite } from '../middleware/cors.ts'
import { anybody, endpoint, type Family, type Who } from '../kit/endpoint.ts'
import { platform, refusedOf } from '../kit/errors.ts'
import { escape, html, htmlDocument, NOTHING, sourceHash, upFrom, type Html } from '../kit/html.ts'
import { GEM, STYLE as SECRETS_STYLE } from '../secret-pages/layout.ts'
import { FormParameters } from '../secrets/parameters.ts'
import { countAccount, countAddress, type SecretServices, type Sender } from '../secrets/sender.ts'
import { keep } from '../secrets/secrets.ts'

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
const frontPage = ({ status, title, content, isPrivate }: FrontPage): Answer => ({
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
export type Typed = { readonly secret: string; readonly email: string; readonly ttl?: number | undefined }

const NOTHING_TYPED: Typed = { secret: '', email: '' }

const LIVES = [
  [3_600, 'an hour'],
  [86_400, 'a day'],
  [604_800, 'a week'],
  [2_592_000, '30 days'],
] as const

/** Seconds of the one that is chosen before anybody chooses. */
const USUAL = 604_800

/**
 * The form that shares a secret.
 * @param isOpen whether it needs no account
 * @param action relative, as a proxy may add a path
 */
const shareForm = (isOpen: boolean, action: string, typed: Typed = NOTHING_TYPED): Html =>
  html`<form method="post" action="${action}">
    <div>
      <label for="secret">The secret</label>
      ${box(typed.secret)}
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
        ${LIVES.map(([seconds, name]) => life(seconds, name, typed.ttl ?? USUAL))}
      </select>
    </div>
    ${isOpen ? NOTHING : credentials(typed)}
    <button type="submit">Make a link that opens once</button>
  </form>`

/** Browsers drop a line feed right behind the opening tag: one that is put there, and none that was typed. */
const box = (typed: string): Html => {
  const text = `\n${typed}`
  return html`<textarea id="secret" name="secret" required spellcheck="false" autocomplete="off">${text}</textarea>`
}

const life = (seconds: number, name: string, chosen: number): Html =>
  html`<option value="${String(seconds)}" ${seconds === chosen ? SELECTED : NOTHING}>${name}</option>`

const SELECTED: Html = { html: 'selected' }

const credentials = ({ email }: Typed): Html =>
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
  readonly front: { readonly address: string }
}

const Start = z.object({
  name: z.literal('Adamant'),
  version: z.string(),
  links: z
    .object({ docs: z.url(), openapi: z.url(), health: z.url(), constants: z.url(), diamonds: z.url(), token: z.url() })
    .describe('Where a program goes on.'),
})

export const showFront = endpoint({
  name: 'showFront',
  method: 'GET',
  path: '/',
  about: 'What this is, and where to go on: a page for people, JSON for programs.',
  who: anybody,
  requestHeaders: { Accept: z.string().optional().describe('`text/html` gets the page.') },
  answers: { 200: { about: 'Where to go on', schema: Start } },
  family: platform,
  run(asked, { front, secrets }: FrontServices) {
    if (asked.accepts('json', 'html') !== 'html') return ok(startAt(front.address), { Vary: 'Accept' })
    // Its path has a slash at its end and is no folder: of what doubled ones add, one counts less.
    const up = upFrom(asked.target).slice('../'.length)
    const content = html`${INTRODUCTION} ${pages(up)}
      <h2>Share a secret</h2>
      <p>It is shown to one reader, one time, and then deleted.</p>
      ${shareForm(secrets.anonymous, `${up}share`)}`
    return frontPage({ status: 200, title: 'Adamant', content, isPrivate: false })
  },
})

function startAt(address: string): z.output<typeof Start> {
  const at = (path: string) => `${address}/${path}`
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
const formSender: Who<undefined, FrontServices> = {
  scheme: 'none',
  refuses: [403, 429],
  admit({ headers, address }, { secrets }) {
    refuseCrossSite(headers, { own: secrets.sites.own, allowed: new Set() })
    countAddress(secrets.rateLimit, address)
    return undefined
  },
}

/** Refusals are pages too. */
const frontFamily: Family = {
  name: 'front',
  prefixes: ['/share'],
  refusals: { media: 'text/html' },
  refusal({ status, faults }, _error, { requestId }) {
    const content = html`<p>${faults.map(({ message }) => message).join('. ')}.</p>
      <p class="soft">Nothing was shared by this. Request ${requestId}</p>`
    return frontPage({ status, title: 'That did not work', content, isPrivate: true })
  },
}

export const shareByPage = endpoint({
  name: 'shareSecretByPage',
  method: 'POST',
  path: '/share',
  about: 'What the form of the front page does: keeps a secret, and goes to the page with its link.',
  who: formSender,
  body: FormParameters,
  answers: {
    303: { about: 'It is kept', headers: { Location: "The sender's page, with the link to pass on" } },
    403: 'Address and token do not belong together, or the form is of another site',
    413: 'The secret is longer than the plan allows',
    422: 'There is nothing to share',
  },
  family: frontFamily,
  async run(asked, { secrets }: FrontServices) {
    const { body, target, address } = asked
    try {
      const sender = await senderOf(body, address, secrets)
      checkSecret(body.secret, sender?.plan ?? 'basic')
      const kept = await keep(
        secrets,
        { body, asker: sender, address, requestId: asked.requestId, trace: asked.trace },
        { value: body.secret, kind: 'shared' },
      )
      return seeOther(`${upFrom(target)}private/${String(kept['metadata_key'])}`, { 'Cache-Control': 'no-store' })
    } catch (error) {
      if (!(error instanceof Refusal) || error.kind === 'too-many') throw error
      return again(error, body, secrets.anonymous)
    }
  },
})

/** @throws Refusal forbidden where address and token do not belong together, or are needed and not there; too-many */
async function senderOf(
  { email, token }: { readonly email: string; readonly token: string },
  address: string,
  { anonymous, apiTokens, rateLimit }: SecretServices['secrets'],
): Promise<Sender | undefined> {
  if (email === '' && token === '' && anonymous) return undefined
  const caller = await apiTokens.verify({ email, token, address })
  if (caller === undefined)
    throw new Refusal('forbidden', 'The e-mail address and the API token do not belong together')
  countAccount(rateLimit, caller.account)
  return { ...caller, token }
}

/** The form once more, with what is wrong and what was typed. */
function again(refusal: Refusal, typed: Typed, isOpen: boolean): Answer {
  const { status, faults } = refusedOf(refusal)
  const content = html`<p class="alert" role="alert">${faults.map(({ message }) => message).join('. ')}</p>
    ${shareForm(isOpen, 'share', typed)}`
  return frontPage({ status, title: 'Nothing was shared yet', content, isPrivate: true })
}
