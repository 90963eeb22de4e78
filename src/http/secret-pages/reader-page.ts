import { previewSecret, revealSecret } from '../../commands/secrets/secrets.ts'
import { RequestError } from '../../domain/request-error.ts'
import { expiresAt, type KnownSecret } from '../../domain/secret/secret.ts'
import type { HttpResponse } from '../kit/response.ts'
import { eventOriginFor } from '../kit/authenticate.ts'
import { endpoint, type EndpointGroup } from '../kit/endpoint.ts'
import { html, NOTHING } from '../kit/html.ts'
import { alert, errorPages, pathToRoot, timeOf } from '../kit/page.ts'
import { PassphraseParameters } from '../secrets/parameters.ts'
import { secretKey } from '../secrets/records.ts'
import { rateLimitedAccess, sameSiteForm, type SecretServices } from '../secrets/authentication.ts'
import { copyButton, secretPage, passphraseInput } from './layout.ts'

export const PAGE = { description: 'The page', mediaType: 'text/html' }

/** Errors are HTML pages. A 404 does not reveal whether the secret ever existed. */
export const secretPagesGroup: EndpointGroup = {
  tag: 'Secret pages',
  pathPrefixes: ['/secret', '/private'],
  ...errorPages(
    (page) => secretPage(page.status === 404 ? { ...page, ...NOT_FOUND } : page),
    () => 'No secret was revealed or deleted.',
  ),
}

const NOT_FOUND = {
  title: 'Secret not found',
  content: html`<p>
      The secret may have been read, been burned by its sender, or have expired, or the link may be incomplete. For
      security reasons, this page does not say which.
    </p>
    <p>
      If you were expecting a secret, ask its sender for a new one. If it was meant only for you and you have not read
      it, tell the sender: someone else may have read it.
    </p>`,
}

/**
 * The key in the path of a page, without what mail programs and people add to a link: a full stop, a bracket, a blank. Keys have
 * letters and digits only.
 */
export const keyInLink = ({ key }: { readonly key: string }): string => /^[a-z0-9]+/.exec(key)?.[0] ?? key

const NO_SECRET = 'No such secret, or it was received, burned or expired'
const LOCKED = 'Too many wrong passphrases, or too many requests'

/** Asks for confirmation by POST, because link scanners and previews follow links with GET. */
export const askSecretReader = endpoint({
  operationId: 'askSecretReader',
  method: 'GET',
  path: '/secret/{key}',
  summary: 'Show the confirmation page for the reader of a secret. Does not reveal the secret.',
  auth: rateLimitedAccess,
  pathParameters: { key: secretKey },
  responses: { 200: PAGE, 404: NO_SECRET, 429: LOCKED },
  group: secretPagesGroup,
  async handler({ params, originalUrl }, { secrets }: SecretServices) {
    return confirmationPage(200, await previewSecret(secrets, keyInLink(params)), pathToRoot(originalUrl))
  },
})

export const showSecretToReader = endpoint({
  operationId: 'showSecretToReader',
  method: 'POST',
  path: '/secret/{key}',
  summary: 'Reveal a secret with the button on its confirmation page. The secret can be revealed only once.',
  auth: sameSiteForm,
  pathParameters: { key: secretKey },
  body: PassphraseParameters,
  responses: { 200: PAGE, 404: `${NO_SECRET}, or the passphrase is wrong`, 429: LOCKED },
  group: secretPagesGroup,
  async handler(ctx, { secrets }: SecretServices) {
    const key = keyInLink(ctx.params)
    const home = pathToRoot(ctx.originalUrl)
    const { passphrase } = ctx.request.body
    const origin = eventOriginFor(undefined, ctx.state)
    try {
      return revealedSecretPage(
        await revealSecret(secrets, { secretKey: key, passphrase, account: undefined, address: ctx.ip, origin }),
        home,
      )
    } catch (error) {
      if (!(error instanceof RequestError) || error.kind !== 'missing') throw error
      // If the secret still exists, the passphrase was wrong; otherwise this throws missing.
      const secret = await previewSecret(secrets, key)
      if (!secret.passphrase) throw error
      return confirmationPage(404, secret, home, passphrase === '' ? MISSING_PASSPHRASE : WRONG_PASSPHRASE)
    }
  },
})

const MISSING_PASSPHRASE = alert('Enter the passphrase to reveal this secret. The secret has not been deleted.')
const WRONG_PASSPHRASE = alert(
  'Wrong passphrase. The secret has not been deleted. After five wrong passphrases it is locked for 30 minutes; after twenty it is burned.',
)

const confirmationPage = (status: number, secret: KnownSecret, home: string, errorMessage = NOTHING): HttpResponse =>
  secretPage({
    status,
    home,
    title: 'Someone shared a secret with you',
    content: html`${errorMessage}
      <p>You can reveal it <strong>only once</strong>. After that it is deleted, and no one can reveal it again.</p>
      <form method="post">
        ${secret.passphrase ? PASSPHRASE : NOTHING}
        <button type="submit">Reveal the secret</button>
      </form>
      <p class="soft">The secret is available until ${timeOf(expiresAt(secret))}.</p>`,
  })

const PASSPHRASE = html`<p>It is protected by a passphrase. Ask the sender for it.</p>
  ${passphraseInput('Passphrase')}`

/** Adds a line feed after the opening tag, because browsers drop the first one. */
const revealedSecretPage = (value: string, home: string): HttpResponse =>
  secretPage({
    status: 200,
    home,
    opensHomeInNewTab: true,
    title: 'Your secret',
    content: html`<pre id="value" tabindex="0" role="region" aria-label="The secret">${`\n${value}`}</pre>
      ${copyButton('the secret')}
      <p>
        It has been deleted from the server. <strong>Save it now if you need it:</strong> you cannot open it again after
        you close or reload this page.
      </p>`,
  })
