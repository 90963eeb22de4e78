import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { MailTransport } from '../ports/mail.ts'

/**
 * Writes each message as an .eml file, named by its Message-ID: sent twice, it is still one file. The links in them are
 * in clear until their secrets end: this is for development.
 */
export function openOutbox(folder: string): MailTransport {
  /** Loaded with the first mail: most commands, and many a service, send none. */
  let transport: ReturnType<typeof openTransport> | undefined
  /** The mails that are there, read once: every end of a secret asks for them. */
  let held: Set<string> | undefined
  return {
    async send(mail) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      transport ??= openTransport()
      const { message } = await (await transport).sendMail({ ...mail, headers: AUTO_SUBMITTED_HEADERS })
      const name = join(folder, nameOf(mail.messageId))
      const file = await open(`${name}.part`, 'w', 0o600)
      await file.writeFile(Buffer.isBuffer(message) ? message : Buffer.from(String(message)))
      await file.sync()
      await file.close()
      await rename(`${name}.part`, name)
      held?.add(nameOf(mail.messageId))
    },
    async withdraw(messageIds) {
      held ??= await listFileNames(folder)
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

const listFileNames = async (folder: string) =>
  new Set(
    await readdir(folder).catch((error: NodeJS.ErrnoException) =>
      error.code === 'ENOENT' ? [] : Promise.reject(error),
    ),
  )

/** RFC 3834: nobody's holiday answers to it. */
export const AUTO_SUBMITTED_HEADERS = { 'Auto-Submitted': 'auto-generated' }
