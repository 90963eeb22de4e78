import { burnSecret, readReceipt } from '../../commands/secrets/secrets.ts'
import { RequestError } from '../../domain/request-error.ts'
import { mailStatus, stateAt, type MailStatus, type SecretState } from '../../domain/secret/secret-attributes.ts'
import {
  expiresAt,
  metadataExpiresAt,
  wrongPassphrases,
  MAX_TOTAL_ATTEMPTS,
  type KnownSecret,
} from '../../domain/secret/secret.ts'
import { seeOther, type HttpResponse } from '../kit/response.ts'
import { eventOriginFor } from '../kit/authenticate.ts'
import { endpoint, type EndpointContext } from '../kit/endpoint.ts'
import { attribute, html, NOTHING, type Html } from '../kit/html.ts'
import { alert, pathToRoot, timeOf } from '../kit/page.ts'
import type { UrlServices } from '../kit/public-urls.ts'
import { rateLimitedAccess, sameSiteForm, type SecretServices } from '../secrets/authentication.ts'
import { PassphraseParameters } from '../secrets/parameters.ts'
import { metadataKey } from '../secrets/records.ts'
import { copyButton, secretPage, passphraseInput } from './layout.ts'
import { keyInLink, PAGE, secretPagesGroup } from './reader-page.ts'

type SecretPageServices = SecretServices & UrlServices

export const showSecretReceipt = endpoint({
  operationId: 'showSecretReceipt',
  method: 'GET',
  path: ['/private/{key}', '/private/{key}/burn'],
  summary: "Show the sender's page of a secret, with its status, the link for the reader, and a form to burn it",
  auth: rateLimitedAccess,
  pathParameters: { key: metadataKey },
  responses: { 200: PAGE, 404: 'No such secret, or its metadata has expired' },
  group: secretPagesGroup,
  handler: (ctx, services: SecretPageServices) => receipt(ctx, services, 200, NOTHING),
})

export const burnSecretByPage = endpoint({
  operationId: 'burnSecretByPage',
  method: 'POST',
  path: '/private/{key}/burn',
  summary: "Burn a secret with the button on the sender's page. Redirects back to the page.",
  auth: sameSiteForm,
  pathParameters: { key: metadataKey },
  body: PassphraseParameters,
  responses: {
    303: { description: 'The secret was burned', headers: { Location: "The sender's page" } },
    404: 'Not burned: the secret was received, burned or expired before, or the passphrase is wrong',
    429: 'Too many wrong passphrases, or too many requests',
  },
  group: secretPagesGroup,
  async handler(ctx, services: SecretPageServices) {
    const command = {
      metadataKey: keyInLink(ctx.params),
      passphrase: ctx.request.body.passphrase,
      account: undefined,
      address: ctx.ip,
      origin: eventOriginFor(undefined, ctx.state),
    }
    try {
      await burnSecret(services.secrets, command)
    } catch (error) {
      if (!(error instanceof RequestError) || error.kind !== 'missing') throw error
      return receipt(ctx, services, 404, NOT_BURNED)
    }
    return seeOther(pathToSecrets(ctx.originalUrl) + keyInLink(ctx.params), { 'Cache-Control': 'no-store' })
  },
})

const NOT_BURNED = alert(
  'The secret was not burned: the passphrase is wrong, or the secret was already read, burned or expired.',
)

const TITLES: Readonly<Record<SecretState, string>> = {
  new: 'Your secret has not been read yet',
  received: 'Your secret has been read',
  burned: 'Your secret was burned',
  expired: 'Your secret expired without being read',
}

type ReceiptRequest = Pick<
  EndpointContext<unknown, unknown, { readonly key: string }>,
  'params' | 'path' | 'originalUrl'
>

/** @throws RequestError missing */
async function receipt(
  { params, path, originalUrl }: ReceiptRequest,
  { secrets, urls }: SecretPageServices,
  status: number,
  errorMessage: Html,
): Promise<HttpResponse> {
  const { keys, secret } = await readReceipt(secrets, keyInLink(params))
  const state = stateAt(secret, secrets.clock())
  const isNew = state === 'new'
  return secretPage({
    status,
    title: TITLES[state],
    home: pathToRoot(originalUrl),
    content: html`${errorMessage} ${isNew ? linkTo(`${urls.secrets}/secret/${keys.secretKey}`) : NOTHING}
      <dl>${facts(secret, state)}</dl>
      ${isNew ? keepAddressPrivate(secret) : NOTHING}
      ${isNew ? burnForm(secret, path.endsWith('/burn') ? undefined : `${pathToSecrets(originalUrl)}${keys.metadataKey}/burn`) : NOTHING}`,
  })
}

/** The relative path of the folder of all sender's pages. */
const pathToSecrets = (target: string): string => pathToRoot(target).replace('../', '')

/** With a passphrase, the key opens nothing without it. */
const keepAddressPrivate = ({ passphrase }: KnownSecret): Html =>
  html`<p class="soft">
    Do not share the address of this page: anyone who has it${passphrase ? ' and the passphrase' : ''} can read the
    secret and burn it.
  </p>`

const linkTo = (link: string): Html =>
  html`<h2>Link for the reader</h2>
    <pre id="value" tabindex="0" role="region" aria-label="Link for the reader">${link}</pre>
    ${copyButton('the link')}`

function facts(secret: KnownSecret, state: SecretState): Html[] {
  const recipients = secret.recipient.join(', ')
  const mail = mailStatus(secret, state)
  const wrong = wrongPassphrases(secret)
  return [
    fact('Shared', timeOf(secret.at)),
    ...(state === 'received' ? [fact('Read', timeOf(secret.changedAt))] : []),
    ...(state === 'burned' ? [fact('Burned', timeOf(secret.changedAt))] : []),
    ...(state === 'expired' ? [fact('Expired', timeOf(expiresAt(secret)))] : []),
    ...(state === 'new' ? [fact('Expires', timeOf(expiresAt(secret)))] : []),
    ...(recipients === '' ? [] : [fact(secret.recipient.length > 1 ? 'Recipients' : 'Recipient', html`${recipients}`)]),
    ...(mail === undefined ? [] : [fact('Mail', html`${MAIL_STATUS_TEXTS[mail]}`)]),
    ...(state === 'new' ? [fact('Passphrase', html`${secret.passphrase ? 'required' : 'none'}`)] : []),
    ...(wrong > 0 ? [fact('Wrong passphrases', html`${wrongPassphrasesText(wrong, state)}`)] : []),
    fact('This page', html`available until ${timeOf(metadataExpiresAt(secret))}`),
  ]
}

const MAIL_STATUS_TEXTS: Readonly<Record<MailStatus, string>> = {
  sent: 'sent',
  waiting: 'not sent yet',
  refused: 'rejected by the recipient\u2019s mail server: send the link yourself',
}

function wrongPassphrasesText(wrong: number, state: SecretState): string {
  if (state === 'burned' && wrong >= MAX_TOTAL_ATTEMPTS) return `${wrong}: the secret was burned unread`
  return state === 'new' ? `${wrong}; the secret is burned after ${MAX_TOTAL_ATTEMPTS}` : String(wrong)
}

const fact = (name: string, value: Html): Html =>
  html`<dt>${name}</dt>
    <dd>${value}</dd>`

/**
 * Collapsed, to prevent burning by accident; works without scripts.
 * @param action relative, because a proxy may add a path prefix; undefined on the page with the path `.../burn`, where the
 *   form posts to its own URL and is expanded
 */
const burnForm = (secret: KnownSecret, action: string | undefined): Html =>
  html`<details ${attribute('open', action === undefined)}>
    <summary>Burn this secret</summary>
    <p>The secret is deleted immediately, and no one can read it. This cannot be undone.</p>
    <form method="post" ${action === undefined ? NOTHING : html`action="${action}"`}>
      ${secret.passphrase ? PASSPHRASE : NOTHING}
      <button type="submit" class="danger">Burn the secret</button>
    </form>
  </details>`

const PASSPHRASE = passphraseInput('Passphrase')
