import { burnSecret } from '../../commands/secrets/burn-secret.ts'
import { readReceipt } from '../../commands/secrets/read-receipt.ts'
import type { Secrets } from '../../commands/secrets/secrets.ts'
import { Refusal } from '../../domain/refusal.ts'
import { mailStatus, stateAt, type MailStatus, type ShownState } from '../../domain/secret/render.ts'
import { expiresAt, forgottenAt, TRIES_IN_LIFE, type KnownSecret } from '../../domain/secret/secret.ts'
import { html, NOTHING, type Html } from '../kit/html.ts'
import { originOf, type Ctx, type Step } from '../kit/request.ts'
import { PassphraseParameters } from '../secrets/parameters.ts'
import { copyButton, passphraseInput, sendPage, timeOf } from './layout.ts'

export type SenderPages = { readonly secrets: Secrets; readonly address: string }

/** What the sender may know, the link to pass on, and the way to burn it. */
export const showReceipt =
  (pages: SenderPages): Step =>
  (ctx) =>
    sendReceipt(ctx, pages, 200, NOTHING)

/** What the burn button does; then back to the page that says so. */
export const burnByPage =
  (pages: SenderPages): Step =>
  async (ctx) => {
    const metadataKey = String(ctx.params['key'])
    const { passphrase } = await PassphraseParameters.read(ctx.req, { search: ctx.querystring })
    try {
      await burnSecret(pages.secrets, {
        metadataKey,
        passphrase,
        account: undefined,
        address: ctx.ip,
        origin: originOf(ctx),
      })
    } catch (error) {
      if (!(error instanceof Refusal) || error.kind !== 'missing') throw error
      await sendReceipt(ctx, pages, 404, NOT_BURNED)
      return
    }
    ctx.set('Cache-Control', 'no-store')
    ctx.redirect(`../${metadataKey}`)
    ctx.status = 303
  }

const NOT_BURNED = html`<p class="alert" role="alert">
  This did not burn the secret: the passphrase is not the right one, or the secret has ended before.
</p>`

const TITLES: Readonly<Record<ShownState, string>> = {
  new: 'Your secret has not been read yet',
  received: 'Your secret has been read',
  burned: 'Your secret was burned',
  expired: 'Your secret expired without being read',
}

async function sendReceipt(ctx: Ctx, { secrets, address }: SenderPages, status: number, alert: Html): Promise<void> {
  const { keys, secret } = await readReceipt(secrets, String(ctx.params['key']))
  const state = stateAt(secret, secrets.clock())
  const isNew = state === 'new'
  sendPage(ctx, {
    status,
    title: TITLES[state],
    content: html`${alert} ${isNew ? linkTo(`${address}/secret/${keys.secretKey}`) : NOTHING}
      <dl>${facts(secret, state)}</dl>
      ${isNew ? KEEP : NOTHING} ${isNew ? burnForm(secret, ctx.path.endsWith('/burn'), keys.metadataKey) : NOTHING}`,
    copies: isNew,
  })
}

const KEEP = html`<p class="soft">Keep this page's address to yourself: who has it can burn the secret and read it.</p>`

const linkTo = (link: string): Html =>
  html`<h2>The link to pass on</h2>
    <pre id="value" tabindex="0" role="region" aria-label="The link to pass on">${link}</pre>
    ${copyButton('the link')}`

function facts(secret: KnownSecret, state: ShownState): Html[] {
  const recipients = secret.recipient.join(', ')
  const mailed = mailStatus(secret, state)
  return [
    fact('Shared', timeOf(secret.at)),
    ...(state === 'received' ? [fact('Read', timeOf(secret.changedAt))] : []),
    ...(state === 'burned' ? [fact('Burned', timeOf(secret.changedAt))] : []),
    ...(state === 'expired' ? [fact('Expired', timeOf(expiresAt(secret)))] : []),
    ...(state === 'new' ? [fact('Expires', timeOf(expiresAt(secret)))] : []),
    ...(recipients === '' ? [] : [fact(secret.recipient.length > 1 ? 'Recipients' : 'Recipient', html`${recipients}`)]),
    ...(mailed === undefined ? [] : [fact('Mail', html`${MAILED[mailed]}`)]),
    ...(state === 'new' ? [fact('Passphrase', html`${secret.passphrase ? 'needed to open it' : 'none'}`)] : []),
    ...(secret.failedTries > 0 ? [fact('Wrong passphrases', html`${triesOf(secret, state)}`)] : []),
    fact('This page', html`is here until ${timeOf(forgottenAt(secret))}`),
  ]
}

const MAILED: Readonly<Record<MailStatus, string>> = {
  sent: 'sent',
  waiting: 'not sent yet',
  refused: 'refused by the recipient\u2019s mail server: pass the link on yourself',
}

function triesOf({ failedTries }: KnownSecret, state: ShownState): string {
  if (state === 'burned' && failedTries >= TRIES_IN_LIFE) return `${failedTries}: that burned it, unread`
  return state === 'new' ? `${failedTries}; after ${TRIES_IN_LIFE} it is burned` : String(failedTries)
}

const fact = (name: string, value: Html): Html =>
  html`<dt>${name}</dt>
    <dd>${value}</dd>`

/** Folded, so that nobody burns by a slip; it works without any script. The address is relative: a proxy may add a path. */
const burnForm = (secret: KnownSecret, isOpen: boolean, metadataKey: string): Html =>
  html`<details ${isOpen ? OPEN : NOTHING}>
    <summary>Burn this secret</summary>
    <p>It is deleted at once, and nobody can read it any more. This can't be undone.</p>
    <form method="post" ${isOpen ? NOTHING : html`action="${metadataKey}/burn"`}>
      ${secret.passphrase ? PASSPHRASE : NOTHING}
      <button type="submit" class="danger">Burn it now</button>
    </form>
  </details>`

const OPEN: Html = { html: 'open' }

const PASSPHRASE = passphraseInput('Its passphrase')
