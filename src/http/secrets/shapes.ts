import { z } from 'zod'
import type { Headers } from '../kit/answer.ts'

/** Nothing of this API is for a cache. */
export const UNSTORED: Headers = { 'Cache-Control': 'no-store' }

const time = z.int().describe('Seconds since 1970.')

/** What the API shows of a secret, whatever is asked for. */
export const SecretRecord = z
  .object({
    custid: z.string().describe("The sender's e-mail address; `anon` without an account."),
    metadata_key: z
      .string()
      .nullable()
      .describe(
        'Finds this record again, and burns the secret: for the sender alone. Null where another token shared it.',
      ),
    secret_key: z
      .string()
      .nullish()
      .describe(
        'Opens the secret, once. Absent once it was received or has expired, empty once burned, null in a list.',
      ),
    ttl: z.int().describe('Seconds that the secret was given to live.'),
    metadata_ttl: z.int().describe('Seconds that this record has left: twice the life of its secret, from the start.'),
    secret_ttl: z.int().nullish().describe('Seconds that the secret has left; null or absent once it has ended.'),
    state: z.enum(['new', 'received', 'burned', 'expired']).meta({ id: 'SecretState' }),
    updated: time,
    created: time,
    received: time.optional().describe('When it was read, in seconds since 1970.'),
    recipient: z.array(z.string()).describe('Whom the link was mailed to, obfuscated.'),
    mail_status: z
      .enum(['sent', 'waiting', 'refused'])
      .meta({ id: 'MailStatus' })
      .optional()
      .describe('Of the mails with the link.'),
    share_domain: z.literal('').describe('For clients of the original.'),
    passphrase_required: z.boolean().optional().describe('While the secret is new.'),
    failed_attempts: z.int().optional().describe('Wrong passphrases so far, where it has one.'),
  })
  .meta({ id: 'Secret' })

const SECRET_KEY = 'r4u1cb6mh5nkw2yqf0zt8d3ovx7lja9epgsi2m6k4b1w5c8n0q'
const METADATA_KEY = 'k9x2v7q4m1c8z5b3n6w0p7f2j4h8d5s1t9r3y6u2e7a4g1o5l8'

export const newRecord = {
  custid: 'ann@example.com',
  metadata_key: METADATA_KEY,
  secret_key: SECRET_KEY,
  ttl: 3600,
  metadata_ttl: 7200,
  secret_ttl: 3600,
  state: 'new',
  updated: 1_795_000_000,
  created: 1_795_000_000,
  recipient: ['to*****@e*****.com'],
  mail_status: 'waiting',
  share_domain: '',
  passphrase_required: false,
} as const satisfies z.input<typeof SecretRecord>

/** In the path. */
export const secretKey = z
  .string()
  .describe('The key of a secret.')
  .meta({ examples: [SECRET_KEY] })
export const metadataKey = z
  .string()
  .describe("The key of a secret's record.")
  .meta({ examples: [METADATA_KEY] })

export const UNKNOWN_SECRET = {
  about: 'There is none of this key, or it has ended; which of both, nobody is told.',
  schema: z.object({ secret_key: z.string().describe('The key of the path.'), message: z.literal('Unknown secret') }),
  example: { secret_key: SECRET_KEY, message: 'Unknown secret' },
} as const
