import { AUTO_SUBMITTED_HEADERS } from './outbox.ts'
import { createTransport } from 'nodemailer'
import { UndeliverableMail, type MailTransport } from '../ports/mail.ts'

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
        throw isPermanentFailure(error) ? new UndeliverableMail(codeOf(error)) : new Error(reasonOf(error))
      }
    },
    async close() {
      transport.close()
    },
  }
}

function isPermanentFailure(error: unknown): boolean {
  const responseCode = field(error, 'responseCode')
  return (
    MESSAGE_ERROR_CODES.has(field(error, 'code')) &&
    typeof responseCode === 'number' &&
    responseCode >= 500 &&
    responseCode < 600
  )
}

/** Status code and enhanced status code (RFC 3463) only: the server's text often repeats the recipient's address. */
function codeOf(error: unknown): string {
  const enhanced = /\b[245]\.\d{1,3}\.\d{1,3}\b/.exec(String(field(error, 'response') ?? ''))?.[0]
  return ['SMTP', field(error, 'responseCode') ?? field(error, 'code') ?? 'failed', enhanced]
    .filter((part) => part !== undefined)
    .join(' ')
}

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
