import { recordMail as decide, secretDecider, type MailOutcome } from '../../domain/secret/secret.ts'
import { secretStream } from '../../credentials/secret-keys.ts'
import { handle } from '../core/handle.ts'
import type { Secrets } from './secrets.ts'

/** Records what became of a mail, once. */
export async function recordMail(secrets: Secrets, digest: string, outcome: MailOutcome): Promise<void> {
  const stream = secretStream(digest)
  const origin = { actor: 'mailer', via: 'projection', correlation: `${outcome.mail}-${digest.slice(0, 16)}` } as const
  const wish = { stream, id: `${stream}/${outcome.messageId}`, origin }
  await handle(secrets, wish, secretDecider, (secret, now) => decide(secret, now, outcome))
}
