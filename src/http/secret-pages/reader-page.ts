import { previewSecret, revealSecret, type SecretCommandContext } from '../../commands/secrets/secrets.ts'
import { RequestError } from '../../domain/decider.ts'
import { expiresAt, type KnownSecret } from '../../domain/secret/secret.ts'
import type { HttpResponse } from '../kit/response.ts'
import { eventOriginFor } from '../kit/authenticate.ts'
import { refuseCrossSite, type TrustedOrigins } from '../middleware/cors.ts'
import { endpoint, type EndpointGroup, type Authenticator } from '../kit/endpoint.ts'
import { html, NOTHING, type Html } from '../kit/html.ts'
import { PassphraseParameters } from '../secrets/parameters.ts'
import { secretKey } from '../secrets/records.ts'
import { countAddress, type RateLimiter } from '../secrets/authentication.ts'
import { copyButton, secretPageResponse, passphraseInput, timeOf } from './layout.ts'

/** What the pages of secrets answer from. */
export type SecretPageServices = {
  readonly secretPages: {
    readonly secrets: SecretCommandContext
    readonly rateLimit: RateLimiter
    /** Where links start, such as https://secrets.example.com. */
    readonly baseUrl: string
    /** Addresses that are this service's own: only their pages may post here. */
    readonly ownOrigins: TrustedOrigins['ownOrigins']
  }
}

export const PAGE = { description: 'The page', mediaType: 'text/html' }

/** Whoever has the link, as often as RATE_LIMIT allows. */
export const visitor: Authenticator<undefined, SecretPageServices> = {
  scheme: 'none',
  errorStatuses: [429],
  authenticate({ clientAddress }, { secretPages: { rateLimit } }) {
    countAddress(rateLimit, clientAddress)
    return undefined
  },
}

/** Who has pressed a button of these pages: a page of another site could send the same form. */
export const formSender: Authenticator<undefined, SecretPageServices> = {
  scheme: 'none',
  errorStatuses: [403, 429],
  authenticate(request, services) {
    refuseCrossSite(request.headers, { ownOrigins: services.secretPages.ownOrigins, allowedOrigins: new Set() })
    return visitor.authenticate(request, services)
  },
}

/** Refusals are pages too. Of a secret that is not there none says whether it ever was: that would tell strangers. */
export const secretPagesGroup: EndpointGroup = {
  name: 'secret pages',
  pathPrefixes: ['/secret', '/private'],
  errorFormat: { mediaType: 'text/html' },
  errorResponse({ status, faults }, _error, { requestId }) {
    if (status === 404) return secretPageResponse({ status, ...GONE })
    const content = html`<p>${faults.map(({ message }) => message).join('. ')}.</p>
      <p class="soft">Nothing was shown or deleted by this. Request ${requestId}</p>`
    return secretPageResponse({ status, title: TITLES[status] ?? 'That did not work', content })
  },
}

const GONE = {
  title: 'There is no secret here',
  content: html`<p>
      It may have been read already, been burned by its sender, or expired; or the link is not complete. This page does
      not tell anybody which.
    </p>
    <p>
      If you were expecting a secret, ask its sender for a new one. If it was meant for you alone and you have not read
      it, tell the sender: somebody else may have.
    </p>`,
}

const TITLES: Readonly<Record<number, string>> = {
  403: 'This page is only for its own forms',
  405: 'This page is only for reading',
  429: 'Too many attempts',
  503: 'This is not available at the moment',
}

const NO_SECRET = 'There is no such secret, or no more'
const LOCKED = 'Too many wrong passphrases, or too many requests'

/** Link scanners and previews follow links, but press no button. */
export const askSecretReader = endpoint({
  operationId: 'askSecretReader',
  method: 'GET',
  path: '/secret/{key}',
  summary: 'The page of a secret for its reader: asks before it shows anything.',
  auth: visitor,
  pathParameters: { key: secretKey },
  responses: { 200: PAGE, 404: NO_SECRET, 429: LOCKED },
  group: secretPagesGroup,
  async handler({ params }, { secretPages: { secrets } }: SecretPageServices) {
    return confirmationPage(200, await previewSecret(secrets, params.key), NOTHING)
  },
})

export const showSecretToReader = endpoint({
  operationId: 'showSecretToReader',
  method: 'POST',
  path: '/secret/{key}',
  summary: "What the button on a secret's page does: shows the secret, once.",
  auth: formSender,
  pathParameters: { key: secretKey },
  body: PassphraseParameters,
  responses: { 200: PAGE, 404: `${NO_SECRET}; or its passphrase is another one`, 429: LOCKED },
  group: secretPagesGroup,
  async handler(request, { secretPages: { secrets } }: SecretPageServices) {
    const { params, body, clientAddress } = request
    const { key } = params
    const { passphrase } = body
    const origin = eventOriginFor(undefined, request)
    try {
      return revealedSecretPage(
        await revealSecret(secrets, { secretKey: key, passphrase, account: undefined, address: clientAddress, origin }),
      )
    } catch (error) {
      if (!(error instanceof RequestError) || error.kind !== 'missing') throw error
      // Where the secret still waits, it was the passphrase that was wrong; else this says that the secret is gone.
      const secret = await previewSecret(secrets, key)
      if (!secret.passphrase) throw error
      return confirmationPage(404, secret, passphrase === '' ? MISSING : WRONG)
    }
  },
})

const MISSING = html`<p class="alert" role="alert">Enter the passphrase to open this secret. It is still here.</p>`
const WRONG = html`<p class="alert" role="alert">
  That passphrase is not the right one. The secret is still here; after five wrong passphrases it is locked for 30
  minutes, and after twenty it is burned.
</p>`

const confirmationPage = (status: number, secret: KnownSecret, alert: Html): HttpResponse =>
  secretPageResponse({
    status,
    title: 'Somebody shared a secret with you',
    content: html`${alert}
      <p>
        It can be shown <strong>one time only</strong>. Once you have seen it, nobody can open it again, not even you.
      </p>
      <form method="post">
        ${secret.passphrase ? PASSPHRASE : NOTHING}
        <button type="submit">Show the secret</button>
      </form>
      <p class="soft">Not now? It waits here until ${timeOf(expiresAt(secret))}.</p>`,
  })

const PASSPHRASE = html`<p>It is protected by a passphrase, which its sender has to tell you.</p>
  ${passphraseInput('Passphrase')}`

/** A line feed right behind the opening tag is dropped by browsers, so that one is put there to be dropped. */
const revealedSecretPage = (value: string): HttpResponse =>
  secretPageResponse({
    status: 200,
    title: 'Here is the secret',
    content: html`<pre id="value" tabindex="0" role="region" aria-label="The secret">${`\n${value}`}</pre>
      ${copyButton('the secret')}
      <p>
        It has been deleted here. <strong>Keep it now if you need it:</strong> when you close or reload this page, it is
        gone.
      </p>`,
    hasCopyButton: true,
  })
