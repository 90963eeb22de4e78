import { burnSecret, readReceipt } from '../../commands/secrets/secrets.ts'
import { Refusal } from '../../domain/decider.ts'
import { mailStatus, stateAt, type MailStatus, type ShownState } from '../../domain/secret/render.ts'
import { expiresAt, forgottenAt, TRIES_IN_LIFE, type KnownSecret } from '../../domain/secret/secret.ts'
import { seeOther, type Answer } from '../kit/answer.ts'
import { originFor } from '../kit/authenticate.ts'
import { endpoint, type Asked } from '../kit/endpoint.ts'
import { html, NOTHING, upFrom, type Html } from '../kit/html.ts'
import { PassphraseParameters } from '../secrets/parameters.ts'
import { metadataKey } from '../secrets/records.ts'
import { copyButton, pageAnswer, passphraseInput, timeOf } from './layout.ts'
import { formSender, PAGE, secretPageFamily, visitor, type SecretPageServices } from './pages.ts'

export const showReceipt = endpoint({
  name: 'showSecretReceipt',
  method: 'GET',
  path: ['/private/{key}', '/private/{key}/burn'],
  about: 'The page of a secret for its sender: what became of it, the link to pass on, and the way to burn it.',
  who: visitor,
  parameters: { key: metadataKey },
  answers: { 200: PAGE, 404: 'There is no such secret, or its time is over' },
  family: secretPageFamily,
  run: (asked, { secretPages }: SecretPageServices) => receipt(asked, secretPages, 200, NOTHING),
})

export const burnByPage = endpoint({
  name: 'burnSecretByPage',
  method: 'POST',
  path: '/private/{key}/burn',
  about: "What the burn button on the sender's page does; then back to the page, which says so.",
  who: formSender,
  parameters: { key: metadataKey },
  body: PassphraseParameters,
  answers: {
    303: { about: 'It is burned', headers: { Location: 'The page that says so' } },
    404: 'It could not be burned: it has ended, or its passphrase is another one',
    429: 'Too many wrong passphrases, or too many requests',
  },
  family: secretPageFamily,
  async run(asked, { secretPages }: SecretPageServices) {
    const { params, body, address } = asked
    const origin = originFor(undefined, asked)
    const wish = { metadataKey: params.key, passphrase: body.passphrase, account: undefined, address, origin }
    try {
      await burnSecret(secretPages.secrets, wish)
    } catch (error) {
      if (!(error instanceof Refusal) || error.kind !== 'missing') throw error
      return receipt(asked, secretPages, 404, NOT_BURNED)
    }
    return seeOther(`${upFrom(asked.target)}../${params.key}`, { 'Cache-Control': 'no-store' })
  },
})

const NOT_BURNED = html`<p class="alert" role="alert">
  This did not burn the secret: the passphrase is not the right one, or the secret has ended before.
</p>`

const TITLES: Readonly<Record<ShownState, string>> = {
  new: 'Your secret has not been read yet',
  received: 'Your secret has been read',
  burned: 'Your secret was burned',
  expired: 'Your secret expired without being read',
}

type AskedOfSecret = Pick<Asked<unknown, unknown, { readonly key: string }>, 'params' | 'path' | 'target'>

/** @throws Refusal missing */
async function receipt(
  { params: { key }, path, target }: AskedOfSecret,
  { secrets, address }: SecretPageServices['secretPages'],
  status: number,
  alert: Html,
): Promise<Answer> {
  const { keys, secret } = await readReceipt(secrets, key)
  const state = stateAt(secret, secrets.clock())
  const isNew = state === 'new'
  return pageAnswer({
    status,
    title: TITLES[state],
    content: html`${alert} ${isNew ? linkTo(`${address}/secret/${keys.secretKey}`) : NOTHING}
      <dl>${facts(secret, state)}</dl>
      ${isNew ? KEEP : NOTHING}
      ${isNew ? burnForm(secret, path.endsWith('/burn') ? undefined : `${upFrom(target)}${keys.metadataKey}/burn`) : NOTHING}`,
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

/**
 * Folded, so that nobody burns by a slip; it works without any script.
 * @param action relative, as a proxy may add a path; undefined on the page that it leads to, where it stands unfolded
 */
const burnForm = (secret: KnownSecret, action: string | undefined): Html =>
  html`<details ${action === undefined ? OPEN : NOTHING}>
    <summary>Burn this secret</summary>
    <p>It is deleted at once, and nobody can read it any more. This can't be undone.</p>
    <form method="post" ${action === undefined ? NOTHING : html`action="${action}"`}>
      ${secret.passphrase ? PASSPHRASE : NOTHING}
      <button type="submit" class="danger">Burn it now</button>
    </form>
  </details>`

const OPEN: Html = { html: 'open' }

const PASSPHRASE = passphraseInput('Its passphrase')
