import { createTransport } from 'nodemailer'
import { mkdir, open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { MailPort } from './mail.ts'

/**
 * Writes each message as an .eml file, named by its Message-ID: sent twice, it is still one file. The links in them are
 * in clear: this is for development.
 */
export function openOutbox(folder: string): MailPort {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' })
  return {
    async send(mail) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const { message } = await transport.sendMail({ ...mail, headers: AUTOMATIC })
      const name = join(folder, `${mail.messageId.replaceAll(/[^\w.@-]/g, '')}.eml`)
      const file = await open(`${name}.part`, 'w', 0o600)
      await file.writeFile(Buffer.isBuffer(message) ? message : Buffer.from(String(message)))
      await file.sync()
      await file.close()
      await rename(`${name}.part`, name)
    },
    async close() {
      transport.close()
    },
  }
}

/** RFC 3834: nobody's holiday answers to it. */
export const AUTOMATIC = { 'Auto-Submitted': 'auto-generated' }
