import { z } from 'zod'
import { burnSecret as burn, custidOf, readReceipt, type SecretCommandContext } from '../../commands/secrets/secrets.ts'
import { toSecretAttributes, type SecretAttributes } from '../../domain/secret/secret-attributes.ts'
import { ok, type ResponseHeaders } from '../kit/response.ts'
import { eventOriginFor } from '../kit/authenticate.ts'
import { endpoint } from '../kit/endpoint.ts'
import { PassphraseParameters } from './parameters.ts'
import { requiredApiToken, optionalApiToken, secretsGroup, type SecretServices } from './authentication.ts'

export const NO_STORE_HEADERS: ResponseHeaders = { 'Cache-Control': 'no-store' }

const time = z.int().describe('Seconds since 1970.')

/** The metadata of a secret, as in all responses of this API. */
export const SecretRecord = z
  .object({
    custid: z.string().describe("The sender's e-mail address; `anon` if shared without an account."),
    metadata_key: z
      .string()
      .nullable()
      .describe(
        'The key for reading the metadata and burning the secret; do not share it. Null if the secret was shared with another API token.',
      ),
    secret_key: z
      .string()
      .nullish()
      .describe(
        'The key for revealing the secret once. Absent after it was received or expired, empty after it was burned, null in lists.',
      ),
    ttl: z.int().describe('Lifetime of the secret in seconds.'),
    metadata_ttl: z.int().describe('Remaining lifetime of the metadata in seconds. Starts at twice the `ttl`.'),
    secret_ttl: z
      .int()
      .nullish()
      .describe(
        'Remaining lifetime of the secret in seconds; null or absent after it was received, burned or expired.',
      ),
    state: z.enum(['new', 'received', 'burned', 'expired']).meta({ id: 'SecretState' }),
    updated: time,
    created: time,
    received: time.optional().describe('When the secret was read, in seconds since 1970.'),
    recipient: z.array(z.string()).describe('Obfuscated e-mail addresses to which the link was sent.'),
    mail_status: z
      .enum(['sent', 'waiting', 'refused'])
      .meta({ id: 'MailStatus' })
      .optional()
      .describe('Status of the e-mails with the link.'),
    share_domain: z.literal('').describe('Always empty; for compatibility.'),
    passphrase_required: z.boolean().optional().describe('Present while the secret is new.'),
    failed_attempts: z
      .int()
      .optional()
      .describe('Number of wrong passphrases so far. Present if the secret has a passphrase.'),
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

export const secretKey = z
  .string()
  .describe('The key of a secret.')
  .meta({ examples: [SECRET_KEY] })
export const metadataKey = z
  .string()
  .describe('The metadata key of a secret.')
  .meta({ examples: [METADATA_KEY] })

export const UNKNOWN_SECRET = {
  description: 'No secret has this key, or it was received, burned or expired. The response does not say which.',
  schema: z.object({ secret_key: z.string().describe('The key in the path.'), message: z.literal('Unknown secret') }),
  example: { secret_key: SECRET_KEY, message: 'Unknown secret' },
} as const

/** The original has had several names for this resource; the first is documented. */
const recordPaths = (suffix: string) => ['private', 'metadata', 'receipt'].map((name) => `/api/v1/${name}/${suffix}`)

export const readSecretRecord = endpoint({
  operationId: 'readSecretRecord',
  method: ['GET', 'POST'],
  path: recordPaths('{key}'),
  summary: "Retrieve a secret's metadata. Does not change the secret.",
  auth: optionalApiToken,
  pathParameters: { key: metadataKey },
  group: secretsGroup,
  headers: NO_STORE_HEADERS,
  responses: {
    200: { description: 'The metadata.', schema: SecretRecord, example: exampleRecord },
    404: UNKNOWN_SECRET,
  },
  async handler({ params: { key } }, { secrets }: SecretServices) {
    return ok(await toSecretRecord(secrets, await readReceipt(secrets, key)))
  },
})

/** Characters of the secret key that people use to tell secrets apart, as in the original. */
const SHORT_KEY = 6

const exampleBurnedRecord = { ...exampleRecord, secret_key: '', secret_ttl: null, state: 'burned' } as const

export const burnSecret = endpoint({
  operationId: 'burnSecret',
  method: 'POST',
  path: recordPaths('{key}/burn'),
  summary:
    'Burn a secret: delete it before it is read. If the secret has a passphrase, it is required, except with the ' +
    "owner's credentials.",
  auth: optionalApiToken,
  pathParameters: { key: metadataKey },
  body: PassphraseParameters,
  group: secretsGroup,
  headers: NO_STORE_HEADERS,
  responses: {
    200: {
      description:
        'The metadata of the burned secret, at the top level and in `state`, for compatibility with both kinds of clients.',
      schema: SecretRecord.extend({
        status: z.literal('burned'),
        state: SecretRecord,
        secret_shortkey: z.string().describe('The first characters of the secret key.'),
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
      description: `${UNKNOWN_SECRET.description} Also if the passphrase is wrong or missing.`,
    },
    429: 'Too many wrong passphrases.',
  },
  async handler(ctx, { secrets }: SecretServices) {
    const account = ctx.state.principal?.account
    const command = { metadataKey: ctx.params.key, ...ctx.request.body, account, address: ctx.ip }
    const burned = await burn(secrets, { ...command, origin: eventOriginFor(account, ctx.state) })
    const state = await toSecretRecord(secrets, burned)
    return ok({ ...state, status: 'burned', state, secret_shortkey: burned.keys.secretKey.slice(0, SHORT_KEY) })
  },
})

export const listRecentSecrets = endpoint({
  operationId: 'listRecentSecrets',
  method: 'GET',
  path: recordPaths('recent'),
  summary: 'List the secrets that the account shared within the last 30 days, newest first',
  auth: requiredApiToken,
  group: secretsGroup,
  headers: NO_STORE_HEADERS,
  responses: {
    200: {
      description: 'The metadata of the secrets, without secret keys.',
      schema: z.array(SecretRecord),
      headers: { 'X-Consistency': '`pending` if recently shared secrets may be missing' },
      example: [{ ...exampleRecord, secret_key: null }],
    },
  },
  async handler({ state }, { secrets: { recent } }: SecretServices) {
    const { secrets, current } = await recent.list(state.principal, state.waitBudget)
    return ok(secrets, current ? {} : { 'X-Consistency': 'pending' })
  },
})

type SecretReceipt = Awaited<ReturnType<typeof readReceipt>>

const toSecretRecord = async (
  secrets: SecretCommandContext,
  { keys, secret }: SecretReceipt,
): Promise<SecretAttributes> => toSecretAttributes(secret, await custidOf(secrets, secret.owner), keys, secrets.clock())
