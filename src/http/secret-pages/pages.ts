import { previewSecret, revealSecret, type Secrets } from '../../commands/secrets/secrets.ts'
import { Refusal } from '../../domain/decider.ts'
import { expiresAt, type KnownSecret } from '../../domain/secret/secret.ts'
import type { Answer } from '../kit/answer.ts'
import { originFor } from '../kit/authenticate.ts'
import { refuseCrossSite, type Sites } from '../middleware/cors.ts'
import { endpoint, type Family, type Who } from '../kit/endpoint.ts'
import { html, NOTHING, type Html } from '../kit/html.ts'
import { PassphraseParameters } from '../secrets/parameters.ts'
import { secretKey } from '../secrets/records.ts'
import { countAddress, type RateLimit } from '../secrets/sender.ts'
import { copyButton, pageAnswer, passphraseInput, timeOf } from './layout.ts'

/** What the pages of secrets answer from. */
export type SecretPageServices = {
  readonly secretPages: {
    readonly secrets: Secrets
    readonly rateLimit: RateLimit
    /** Where links start, such as https://secrets.example.com. */
    readonly address: string
    /** Addresses that are this service's own: only their pages may post here. */
    readonly own: Sites['own']
  }
}

export const PAGE = { about: 'The page', media: 'text/html' }

/** Whoever has the link, as often as RATE_LIMIT allows. */
export const visitor: Who<undefined, SecretPageServices> = {
  scheme: 'none',
  refuses: [429],
  admit({ address }, { secretPages: { rateLimit } }) {
    countAddress(rateLimit, address)
    return undefined
  },
}

/** Who has pressed a button of these pages: a page of another site could send the same form. */
export const formSender: Who<undefined, SecretPageServices> = {
  scheme: 'none',
  refuses: [403, 429],
  admit(asked, services) {
    refuseCrossSite(asked.headers, { own: services.secretPages.own, allowed: new Set() })
    return visitor.admit(asked, services)
  },
}

/** Refusals are pages too. Of a secret that is not there none says whether it ever was: that would tell strangers. */
export const secretPageFamily: Family = {
  name: 'secret pages',
  prefixes: ['/secret', '/private'],
  refusals: { media: 'text/html' },
  refusal({ status, faults }, _error, { requestId }) {
    if (status === 404) return pageAnswer({ status, ...GONE })
    const content = html`<p>${faults.map(({ message }) => message).join('. ')}.</p>
      <p class="soft">Nothing was shown or deleted by this. Request ${requestId}</p>`
    return pageAnswer({ status, title: TITLES[status] ?? 'That did not work', content })
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
export const askReader = endpoint({
  name: 'askSecretReader',
  method: 'GET',
  path: '/secret/{key}',
  about: 'The page of a secret for its reader: asks before it shows anything.',
  who: visitor,
  parameters: { key: secretKey },
  answers: { 200: PAGE, 404: NO_SECRET, 429: LOCKED },
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
  answers: { 200: PAGE, 404: `${NO_SECRET}; or its passphrase is another one`, 429: LOCKED },
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
