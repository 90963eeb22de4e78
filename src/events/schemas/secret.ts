import { z } from 'zod'
import { first } from './event-schema.ts'

/** A value that only newer payloads have. */
const same = (data: Readonly<Record<string, unknown>>) => data

const at = z.int().min(0).describe('milliseconds since 1970, UTC')
const mail = z.enum(['link', 'notice']).describe('the link to a recipient, or the notice to the owner that it was read')
export const secretSchemas = {
  SecretShared: first(
    z.object({
      owner: z.int().min(1).nullable().describe('id of the account; null for an anonymous sender'),
      token: z.string().nullable().describe('id of the API token that it was shared with'),
      kind: z.enum(['shared', 'generated']),
      at,
      ttl: z.int().min(1).describe('seconds'),
      passphrase: z.boolean().describe('whether there is one'),
      recipient: z.array(z.string()).describe('addresses, obfuscated'),
      notify: z.boolean().describe('whether the owner is told when it was read'),
    }),
  ),
  PassphraseTried: first(z.object({ at, for: z.enum(['reveal', 'burn']) })),
  SecretRevealed: first(z.object({ at })),
  /** Version 2 knows `guesses`. */
  SecretBurned: { version: 2, payload: z.object({ at, by: z.enum(['owner', 'key', 'guesses']) }), upcasters: [same] },
  SecretExpired: first(z.object({ at })),
  MailSent: first(z.object({ mail, messageId: z.string(), at })),
  MailRefused: first(z.object({ mail, messageId: z.string(), reason: z.string(), at })),
}
