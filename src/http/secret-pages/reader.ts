import { previewSecret, revealSecret } from '../../commands/secrets/secrets.ts'
import { Refusal } from '../../domain/refusal.ts'
import { expiresAt, type KnownSecret } from '../../domain/secret/secret.ts'
import type { Answer } from '../kit/answer.ts'
import { originFor } from '../kit/authenticate.ts'
import { endpoint } from '../kit/endpoint.ts'
import { html, NOTHING, type Html } from '../kit/html.ts'
import { PassphraseParameters } from '../secrets/parameters.ts'
import { secretKey } from '../secrets/shapes.ts'
import { copyButton } from './copy-button.ts'
import { pageAnswer, passphraseInput, timeOf } from './layout.ts'
import { formSender, PAGE, secretPageFamily, visitor, type SecretPageServices } from './pages.ts'

const GONE = 'There is no such secret, or no more'
const LOCKED = 'Too many wrong passphrases, or too many requests'

/** Link scanners and previews follow links, but press no button. */
export const askReader = endpoint({
  name: 'askSecretReader',
  method: 'GET',
  path: '/secret/{key}',
  about: 'The page of a secret for its reader: asks before it shows anything.',
  who: visitor,
  parameters: { key: secretKey },
  answers: { 200: PAGE, 404: GONE, 429: LOCKED },
  family: secretPageFamily,
  async run({ params }, { secretPages: { secrets } }: SecretPageServices) {
    return asking(200, await previewSecret(secrets, params.key), NOTHING)
  },
})

export const showSecret = endpoint({
  name: 'showSecretToReader',
  method: 'POST',
  path: '/secret/{key}',
  about: "What the button on a secret's page does: shows the secret, once.",
  who: formSender,
  parameters: { key: secretKey },
  body: PassphraseParameters,
  answers: { 200: PAGE, 404: `${GONE}; or its passphrase is another one`, 429: LOCKED },
  family: secretPageFamily,
  async run(asked, { secretPages: { secrets } }: SecretPageServices) {
    const { params, body, address } = asked
    const { key } = params
    const { passphrase } = body
    const origin = originFor(undefined, asked)
    try {
      return shown(await revealSecret(secrets, { secretKey: key, passphrase, account: undefined, address, origin }))
    } catch (error) {
      if (!(error instanceof Refusal) || error.kind !== 'missing') throw error
      // Where the secret still waits, it was the passphrase that was wrong; else this says that the secret is gone.
      const secret = await previewSecret(secrets, key)
      if (!secret.passphrase) throw error
      return asking(404, secret, passphrase === '' ? MISSING : WRONG)
    }
  },
})

const MISSING = html`<p class="alert" role="alert">Enter the passphrase to open this secret. It is still here.</p>`
const WRONG = html`<p class="alert" role="alert">
  That passphrase is not the right one. The secret is still here; after five wrong passphrases it is locked for 30
  minutes, and after twenty it is burned.
</p>`

const asking = (status: number, secret: KnownSecret, alert: Html): Answer =>
  pageAnswer({
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
const shown = (value: string): Answer =>
  pageAnswer({
    status: 200,
    title: 'Here is the secret',
    content: html`<pre id="value" tabindex="0" role="region" aria-label="The secret">${`\n${value}`}</pre>
      ${copyButton('the secret')}
      <p>
        It has been deleted here. <strong>Keep it now if you need it:</strong> when you close or reload this page, it is
        gone.
      </p>`,
    copies: true,
  })
