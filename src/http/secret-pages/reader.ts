import { previewSecret } from '../../commands/secrets/preview-secret.ts'
import { revealSecret } from '../../commands/secrets/reveal-secret.ts'
import type { Secrets } from '../../commands/secrets/secrets.ts'
import { Refusal } from '../../domain/refusal.ts'
import { expiresAt, type KnownSecret } from '../../domain/secret/secret.ts'
import { html, NOTHING, type Html } from '../kit/html.ts'
import { originOf, type Ctx, type Step } from '../kit/request.ts'
import { PassphraseParameters } from '../secrets/parameters.ts'
import { copyButton, passphraseInput, sendPage, timeOf } from './layout.ts'

/** Asks before it shows anything: link scanners and previews follow links, but press no button. */
export const askReader =
  (secrets: Secrets): Step =>
  async (ctx) => {
    sendAsking(ctx, 200, await previewSecret(secrets, String(ctx.params['key'])), NOTHING)
  }

/** What the button does: shows the secret, once. */
export const showSecret =
  (secrets: Secrets): Step =>
  async (ctx) => {
    const secretKey = String(ctx.params['key'])
    const { passphrase } = await PassphraseParameters.read(ctx.req, { search: ctx.querystring })
    try {
      sendSecret(ctx, await revealSecret(secrets, { secretKey, passphrase, address: ctx.ip, origin: originOf(ctx) }))
    } catch (error) {
      if (!(error instanceof Refusal) || error.kind !== 'missing') throw error
      // Where the secret still waits, it was the passphrase that was wrong; else this says that the secret is gone.
      const secret = await previewSecret(secrets, secretKey)
      if (!secret.passphrase) throw error
      sendAsking(ctx, 404, secret, passphrase === '' ? MISSING : WRONG)
    }
  }

const MISSING = html`<p class="alert" role="alert">Enter the passphrase to open this secret. It is still here.</p>`
const WRONG = html`<p class="alert" role="alert">
  That passphrase is not the right one. The secret is still here; after five wrong passphrases it is locked for 30
  minutes, and after twenty it is burned.
</p>`

function sendAsking(ctx: Ctx, status: number, secret: KnownSecret, alert: Html): void {
  sendPage(ctx, {
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
}

const PASSPHRASE = html`<p>It is protected by a passphrase, which its sender has to tell you.</p>
  ${passphraseInput('Passphrase')}`

/** A line feed right behind the opening tag is dropped by browsers, so that one is put there to be dropped. */
function sendSecret(ctx: Ctx, value: string): void {
  sendPage(ctx, {
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
}
