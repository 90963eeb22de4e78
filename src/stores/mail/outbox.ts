import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { MailTransport } from '../ports/mail.ts'

/**
 * For development: writes each message as an .eml file named after its Message-ID, so that a message sent twice is one
 * file. The files contain links in plain text until their secrets end.
 */
export function openOutbox(folder: string): MailTransport {
  /** Loaded with the first mail: most processes send none. */
  let transport: ReturnType<typeof openTransport> | undefined
  /** The existing files, listed once: the end of every secret looks for its mails. */
  let fileNames: Set<string> | undefined
  return {
    async send(mail) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      transport ??= openTransport()
      const { message } = await (await transport).sendMail({ ...mail, headers: AUTO_SUBMITTED_HEADERS })
      const name = join(folder, nameOf(mail.messageId))
      const content = Buffer.isBuffer(message) ? message : String(message)
      await writeFile(`${name}.part`, content, { mode: 0o600, flush: true })
      await rename(`${name}.part`, name)
      fileNames?.add(nameOf(mail.messageId))
    },
    async withdraw(messageIds) {
      fileNames ??= await listFileNames(folder)
      if (fileNames.size === 0) return
      for (const messageId of messageIds) {
        const name = nameOf(messageId)
        if (!fileNames.has(name)) continue
        await rm(join(folder, name), { force: true })
        fileNames.delete(name)
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

/** RFC 3834: keeps auto-responders from replying. */
export const AUTO_SUBMITTED_HEADERS = { 'Auto-Submitted': 'auto-generated' }
