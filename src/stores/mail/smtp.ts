import { AUTO_SUBMITTED_HEADERS } from './outbox.ts'
import { createTransport } from 'nodemailer'
import { ServiceRefused, UndeliverableMail, type MailTransport } from '../ports/mail.ts'

/** Milliseconds. A server may take long to accept a message (RFC 5321, 4.5.3.2.6), but not unlimited time. */
const TIMEOUTS = { connectionTimeout: 15_000, greetingTimeout: 30_000, socketTimeout: 120_000, dnsTimeout: 15_000 }

/** The server rejected the message itself, not the connection or the login: only these failures can be permanent. */
const MESSAGE_ERROR_CODES: ReadonlySet<unknown> = new Set(['EENVELOPE', 'EMESSAGE'])

/** @param address smtp://USER:PASSWORD@HOST:PORT or smtps://... */
export function openSmtp(address: string): MailTransport {
  const transport = createTransport({ url: address, pool: true, maxConnections: 4, ...TIMEOUTS })
  return {
    async send(mail) {
      try {
        await transport.sendMail({
          ...mail,
          headers: AUTO_SUBMITTED_HEADERS,
          disableFileAccess: true,
          disableUrlAccess: true,
        })
      } catch (error) {
        throw mailErrorOf(error)
      }
    },
    async close() {
      transport.close()
    },
  }
}

function mailErrorOf(error: unknown): Error {
  const responseCode = field(error, 'responseCode')
  if (typeof responseCode !== 'number' || responseCode < 500) return new Error(reasonOf(error))
  const fault = serviceFaultOf(error)
  if (fault !== undefined) return new ServiceRefused(`${codeOf(error)}: ${fault}`)
  return MESSAGE_ERROR_CODES.has(field(error, 'code'))
    ? new UndeliverableMail(codeOf(error))
    : new Error(reasonOf(error))
}

/** Enhanced status codes about the recipient's address and mailbox (RFC 3463). */
const ABOUT_RECIPIENT = /^5\.(?:1\.(?:[0-6]|9|10)|2\.\d+)$/
/** Status codes of a refused recipient without an enhanced one (RFC 5321, 4.2.3). */
const RECIPIENT_REFUSED: ReadonlySet<unknown> = new Set([550, 551, 552, 553, 556])
/** The sender's address (RFC 3463, 5.1.7 and 5.1.8), or a failed SPF, DKIM or reverse DNS (RFC 7372). */
const ABOUT_SENDER = /^5\.(?:1\.[78]|7\.2\d)$/

/**
 * What the server refuses about the service, which ends when the configuration is mended; undefined if it refuses the
 * recipient or the text.
 * @param error with a status code of 500 or more
 */
function serviceFaultOf(error: unknown): string | undefined {
  // An address may contain any of the words below.
  const response = String(field(error, 'response') ?? '').replaceAll(/\S*@\S*/g, '')
  const enhanced = enhancedCodeIn(response) ?? ''
  if (ABOUT_RECIPIENT.test(enhanced)) return undefined
  const command = String(field(error, 'command'))
  if (/^(?:EHLO|HELO)/.test(command) || /(?:^|\W)helo\b/i.test(response)) return HOST_REFUSED
  if (command.startsWith('MAIL FROM') || ABOUT_SENDER.test(enhanced) || /\bsender\b/i.test(response))
    return SENDER_REFUSED
  if (command.startsWith('AUTH')) return RELAY_REFUSED
  if (!command.startsWith('RCPT TO')) return undefined
  const isAboutRecipient =
    enhanced === '' && RECIPIENT_REFUSED.has(field(error, 'responseCode')) && !/\brelay/i.test(response)
  return isAboutRecipient ? undefined : RELAY_REFUSED
}

const SENDER_REFUSED =
  'the server refuses the sender: check MAIL_FROM, and that its domain permits this server (SPF, DKIM)'
const RELAY_REFUSED = 'the server does not send mail for this service: check the user and password in MAILER'
const HOST_REFUSED = "the server refuses this machine's name: append ?name=HOST.EXAMPLE.COM to MAILER"

/** Status code and enhanced status code (RFC 3463) only: the server's text often repeats the recipient's address. */
function codeOf(error: unknown): string {
  const enhanced = enhancedCodeIn(String(field(error, 'response') ?? ''))
  return ['SMTP', field(error, 'responseCode') ?? field(error, 'code') ?? 'failed', enhanced]
    .filter((part) => part !== undefined)
    .join(' ')
}

const enhancedCodeIn = (response: string): string | undefined => /\b[245]\.\d{1,3}\.\d{1,3}\b/.exec(response)?.[0]

/** Without a response, also the reason of the connection's failure: it is this machine's text, and names no recipient. */
function reasonOf(error: unknown): string {
  if (field(error, 'response') !== undefined || !(error instanceof Error)) return codeOf(error)
  // After the semicolon, Node recommends an option that the service does not take.
  const [reason] = error.message.split(';')
  const hint = /certificate/i.test(error.message)
    ? '; to trust it, name a file with the certificate or its authority in NODE_EXTRA_CA_CERTS'
    : ''
  return `${codeOf(error)}: ${reason}${hint}`
}

const field = (error: unknown, name: string): unknown =>
  typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined
