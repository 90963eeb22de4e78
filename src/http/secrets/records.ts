import { z } from 'zod'
import { burnSecret as burn, custidOf, readReceipt, type SecretCommandContext } from '../../commands/secrets/secrets.ts'
import { toSecretAttributes, type SecretAttributes } from '../../domain/secret/secret-attributes.ts'
import { ok, type ResponseHeaders } from '../kit/response.ts'
import { eventOriginFor } from '../kit/authenticate.ts'
import { endpoint } from '../kit/endpoint.ts'
import { PassphraseParameters } from './parameters.ts'
import { requiredApiToken, optionalApiToken, secretsGroup, type SecretServices } from './authentication.ts'

/** Nothing of this API is for a cache. */
export const NO_STORE_HEADERS: ResponseHeaders = { 'Cache-Control': 'no-store' }

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

export const exampleRecord = {
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
  description: 'There is none of this key, or it has ended; which of both, nobody is told.',
  schema: z.object({ secret_key: z.string().describe('The key of the path.'), message: z.literal('Unknown secret') }),
  example: { secret_key: SECRET_KEY, message: 'Unknown secret' },
} as const

/** The names that the original has had for the same thing; the first is the documented one. */
const recordPaths = (rest: string) => ['private', 'metadata', 'receipt'].map((name) => `/api/v1/${name}/${rest}`)

export const readSecretRecord = endpoint({
  operationId: 'readSecretRecord',
  method: ['GET', 'POST'],
  path: recordPaths('{key}'),
  summary: 'What the sender of a secret may know of it, by its metadata key. Changes nothing.',
  auth: optionalApiToken,
  pathParameters: { key: metadataKey },
  group: secretsGroup,
  headers: NO_STORE_HEADERS,
  responses: {
    200: { description: 'The record.', schema: SecretRecord, example: exampleRecord },
    404: UNKNOWN_SECRET,
  },
  async handler({ params: { key } }, { secrets }: SecretServices) {
    return ok(await toSecretRecord(secrets, await readReceipt(secrets, key)))
  },
})

/** As many letters of the secret key as a person needs to tell secrets apart; the original shows them. */
const SHORT_KEY = 6

const exampleBurnedRecord = { ...exampleRecord, secret_key: '', secret_ttl: null, state: 'burned' } as const

export const burnSecret = endpoint({
  operationId: 'burnSecret',
  method: 'POST',
  path: recordPaths('{key}/burn'),
  summary:
    'Deletes a secret that nobody has read. Its owner, by credentials, needs no passphrase; who has only the metadata ' +
    'key needs the one it was shared with.',
  auth: optionalApiToken,
  pathParameters: { key: metadataKey },
  body: PassphraseParameters,
  group: secretsGroup,
  headers: NO_STORE_HEADERS,
  responses: {
    200: {
      description: 'It is gone: the record, in both of the shapes that clients of the original read.',
      schema: SecretRecord.extend({
        status: z.literal('burned'),
        state: SecretRecord,
        secret_shortkey: z.string().describe('The first letters of its key.'),
      }),
      example: {
        ...exampleBurnedRecord,
        status: 'burned',
        state: exampleBurnedRecord,
        secret_shortkey: exampleRecord.secret_key.slice(0, SHORT_KEY),
      },
    },
    404: {
      ...UNKNOWN_SECRET,
      description: `${UNKNOWN_SECRET.description} Also where the passphrase is wrong or missing.`,
    },
    429: 'Too many wrong passphrases.',
  },
  async handler(request, { secrets }: SecretServices) {
    const { params, body, principal, clientAddress } = request
    const command = { metadataKey: params.key, ...body, account: principal?.account, address: clientAddress }
    const burned = await burn(secrets, { ...command, origin: eventOriginFor(principal?.account, request) })
    const state = await toSecretRecord(secrets, burned)
    return ok({ ...state, status: 'burned', state, secret_shortkey: burned.keys.secretKey.slice(0, SHORT_KEY) })
  },
})

export const listRecentSecrets = endpoint({
  operationId: 'listRecentSecrets',
  method: 'GET',
  path: recordPaths('recent'),
  summary: 'What the account has shared in 30 days, newest first.',
  auth: requiredApiToken,
  group: secretsGroup,
  headers: NO_STORE_HEADERS,
  responses: {
    200: {
      description: 'The records, without their secret keys.',
      schema: z.array(SecretRecord),
      headers: { 'X-Consistency': '`pending` where what was shared last may be missing yet' },
      example: [{ ...exampleRecord, secret_key: null }],
    },
  },
  async handler({ principal, waitBudget }, { secrets: { recent } }: SecretServices) {
    const { secrets, current } = await recent.list(principal, waitBudget)
    return ok(secrets, current ? {} : { 'X-Consistency': 'pending' })
  },
})

type SecretReceipt = Awaited<ReturnType<typeof readReceipt>>

const toSecretRecord = async (
  secrets: SecretCommandContext,
  { keys, secret }: SecretReceipt,
): Promise<SecretAttributes> => toSecretAttributes(secret, await custidOf(secrets, secret.owner), keys, secrets.clock())
