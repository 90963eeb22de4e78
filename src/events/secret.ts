import { z } from 'zod'
import { first } from './event-schema.ts'

/** A value that only newer payloads have. */
const same = (data: Readonly<Record<string, unknown>>) => data

const at = z.int().min(0)
const mail = z.enum(['link', 'notice'])
export const secretSchemas = {
  SecretShared: first(
    z.object({
      owner: z.int().min(1).nullable(),
      token: z.string().nullable(),
      kind: z.enum(['shared', 'generated']),
      at,
      ttl: z.int().min(1),
      passphrase: z.boolean(),
      recipient: z.array(z.string()),
      notify: z.boolean(),
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
