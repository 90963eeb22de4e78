import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import { Undeliverable, type MailPort } from '../ports/mail.ts'

/**
 * Writes each message as an .eml file, named by its Message-ID: sent twice, it is still one file. The links in them are
 * in clear until their secrets end: this is for development.
 */
export function openOutbox(folder: string): MailPort {
  /** Loaded with the first mail: most commands, and many a service, send none. */
  let transport: ReturnType<typeof openTransport> | undefined
  /** The mails that are there, read once: every end of a secret asks for them. */
  let held: Set<string> | undefined
  return {
    async send(mail) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      transport ??= openTransport()
      const { message } = await (await transport).sendMail({ ...mail, headers: AUTOMATIC })
      const name = join(folder, nameOf(mail.messageId))
      const file = await open(`${name}.part`, 'w', 0o600)
      await file.writeFile(Buffer.isBuffer(message) ? message : Buffer.from(String(message)))
      await file.sync()
      await file.close()
      await rename(`${name}.part`, name)
      held?.add(nameOf(mail.messageId))
    },
    async withdraw(messageIds) {
      held ??= await heldIn(folder)
      if (held.size === 0) return
      for (const messageId of messageIds) {
        const name = nameOf(messageId)
        if (!held.has(name)) continue
        await rm(join(folder, name), { force: true })
        held.delete(name)
      }
    },
    async close() {
      ;(await transport)?.close()
    },
  }
}

async function openTransport() {
  const { createTransport } = await import('nodemailer')
  return createTransport({ streamTransport: true, buffer: true, newline: 'windows' })
}

const nameOf = (messageId: string) => `${messageId.replaceAll(/[^\w.@-]/g, '')}.eml`

const heldIn = async (folder: string) =>
  new Set(
    await readdir(folder).catch((error: NodeJS.ErrnoException) =>
      error.code === 'ENOENT' ? [] : Promise.reject(error),
    ),
  )

/** RFC 3834: nobody's holiday answers to it. */
export const AUTOMATIC = { 'Auto-Submitted': 'auto-generated' }

/** Milliseconds. A server may take long to accept a message (RFC 5321, 4.5.3.2.6), but not for ever. */
const TIMEOUTS = { connectionTimeout: 15_000, greetingTimeout: 30_000, socketTimeout: 120_000, dnsTimeout: 15_000 }

/** The other side speaks of the message, not of how we came: only these refusals are final. */
const ABOUT_THE_MESSAGE: ReadonlySet<unknown> = new Set(['EENVELOPE', 'EMESSAGE'])

/** @param address smtp://USER:PASSWORD@HOST:PORT or smtps://... */
export function openSmtp(address: string): MailPort {
  const transport = createTransport({ url: address, pool: true, maxConnections: 4, ...TIMEOUTS })
  return {
    async send(mail) {
      try {
        await transport.sendMail({ ...mail, headers: AUTOMATIC, disableFileAccess: true, disableUrlAccess: true })
      } catch (error) {
        throw isFinal(error) ? new Undeliverable(codeOf(error)) : new Error(codeOf(error))
      }
    },
    async close() {
      transport.close()
    },
  }
}

function isFinal(error: unknown): boolean {
  const responseCode = field(error, 'responseCode')
  return (
    ABOUT_THE_MESSAGE.has(field(error, 'code')) &&
    typeof responseCode === 'number' &&
    responseCode >= 500 &&
    responseCode < 600
  )
}

/** Code and enhanced code (RFC 3463) alone: the server's words mostly repeat the address. */
function codeOf(error: unknown): string {
  const enhanced = /\b[245]\.\d{1,3}\.\d{1,3}\b/.exec(String(field(error, 'response') ?? ''))?.[0]
  return ['SMTP', field(error, 'responseCode') ?? field(error, 'code') ?? 'failed', enhanced]
    .filter((part) => part !== undefined)
    .join(' ')
}

const field = (error: unknown, name: string): unknown =>
  typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined
