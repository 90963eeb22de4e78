import type { Addressee } from '../../credentials/sealing.ts'
import { expiresAt, type KnownSecret } from '../../domain/secret/secret.ts'

export type MailText = { readonly subject: string; readonly text: string; readonly html: string }

/**
 * Takes the link to its recipient. It says what a person needs in order to trust it, and never the secret.
 * @param sender the address of who shared it
 * @param address where links start, such as https://secrets.example.com
 */
export function linkMail(secret: KnownSecret, { secretKey }: Addressee, sender: string, address: string): MailText {
  const link = `${address}/secret/${secretKey ?? ''}`
  const until = utc(expiresAt(secret))
  const passphrase = secret.passphrase
    ? 'You need the passphrase that the sender has agreed on with you. It is not in this mail.'
    : ''
  return mailOf(`${sender} sent you a secret`, [
    `${sender} sent you a secret. It can be read once, by whoever opens it first, until ${until}:`,
    { link },
    'The page asks before it shows the secret: following the link alone does not use it up.',
    passphrase,
    'If the secret is gone already, tell the sender: somebody else may have read it.',
  ])
}

/** Tells the owner that the secret was read, without anything of it. */
export function noticeMail(secret: KnownSecret): MailText {
  const [recipient] = secret.recipient
  const what = recipient === undefined ? 'A secret that you shared' : `The secret that you shared with ${recipient}`
  return mailOf('A secret that you shared was read', [
    `${what} on ${utc(secret.at)} was read on ${utc(secret.changedAt)}. It can't be read again.`,
    'If that was not who it was for, treat it as known to somebody else.',
  ])
}

type Paragraph = string | { readonly link: string }

function mailOf(subject: string, paragraphs: readonly Paragraph[]): MailText {
  const shown = paragraphs.filter((paragraph) => paragraph !== '')
  return {
    subject,
    text: `${shown.map((paragraph) => (typeof paragraph === 'string' ? paragraph : paragraph.link)).join('\n\n')}\n`,
    html:
      '<!doctype html><html lang="en"><body style="font:16px/1.5 sans-serif;color:#1c2430;max-width:36em">' +
      `${shown.map((paragraph) => `<p>${htmlOf(paragraph)}</p>`).join('')}</body></html>`,
  }
}

function htmlOf(paragraph: Paragraph): string {
  if (typeof paragraph === 'string') return escape(paragraph)
  return `<a href="${escape(paragraph.link)}">${escape(paragraph.link)}</a>`
}

const escape = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

const utc = (ms: number) => `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`
