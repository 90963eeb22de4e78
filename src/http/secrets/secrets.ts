import { randomInt } from 'node:crypto'
import { z } from 'zod'
import { revealSecret as reveal } from '../../commands/secrets/secrets.ts'
import { shareSecret as share, type ShareSecret } from '../../commands/secrets/share-secret.ts'
import { RequestError } from '../../domain/request-error.ts'
import { checkRecipient } from '../../domain/secret/email-address.ts'
import {
  checkPassphrase,
  checkSecret,
  generateSecretValue,
  MAX_RECIPIENTS_BY_PLAN,
  effectiveTtl,
} from '../../domain/secret/secret.ts'
import { toSecretAttributes, type SecretAttributes } from '../../domain/secret/secret-attributes.ts'
import { OutcomeUnknown } from '../../stores/ports/event-store.ts'
import { ok } from '../kit/response.ts'
import { eventOriginFor } from '../kit/authenticate.ts'
import { endpoint, type EndpointContext } from '../kit/endpoint.ts'
import {
  requiredApiToken,
  optionalApiToken,
  secretsGroup,
  sharingAccess,
  type SecretServices,
  type AuthenticatedSender,
} from './authentication.ts'
import { GenerateParameters, PassphraseParameters, ShareParameters, type SharingOptions } from './parameters.ts'
import { exampleRecord, secretKey, SecretRecord, UNKNOWN_SECRET, NO_STORE_HEADERS } from './records.ts'

export const shareSecret = endpoint({
  operationId: 'shareSecret',
  method: 'POST',
  path: ['/api/v1/share', '/api/v1/create'],
  summary: 'Share a secret. It can be revealed once.',
  auth: sharingAccess,
  body: ShareParameters,
  group: secretsGroup,
  headers: NO_STORE_HEADERS,
  responses: {
    200: { description: 'The metadata of the secret.', schema: SecretRecord, example: exampleRecord },
    413: 'The secret is longer than the plan allows. It is never truncated.',
    422: 'The secret is empty, or a parameter is invalid.',
  },
  async handler(ctx, { secrets }: SecretServices) {
    const value = ctx.request.body.secret
    const sender = ctx.state.principal
    checkSecret(value, sender?.plan ?? 'basic')
    return ok(await storeSharedSecret(secrets, ctx, { value, kind: 'shared', options: ctx.request.body, sender }))
  },
})

export const generateSecret = endpoint({
  operationId: 'generateSecret',
  method: 'POST',
  path: '/api/v1/generate',
  summary: 'Generate and share a random secret of 12 characters. The response contains its value.',
  auth: sharingAccess,
  body: GenerateParameters,
  group: secretsGroup,
  headers: NO_STORE_HEADERS,
  responses: {
    200: {
      description: 'The metadata and the value of the secret.',
      schema: SecretRecord.extend({ value: z.string().describe('The generated secret.') }),
      example: { ...exampleRecord, value: 'wX7kQm3bRz9T' },
    },
    422: 'A parameter is invalid.',
  },
  async handler(ctx, { secrets }: SecretServices) {
    const value = generateSecretValue((limit) => randomInt(limit))
    const { body: options } = ctx.request
    const generated = { value, kind: 'generated', options, sender: ctx.state.principal } as const
    return ok({ ...(await storeSharedSecret(secrets, ctx, generated)), value })
  },
})

type SecretSharingServices = SecretServices['secrets']

type SharedSecret = Pick<ShareSecret, 'value' | 'kind'> & {
  readonly options: SharingOptions
  readonly sender: AuthenticatedSender | undefined
}

/** Shares a value with the options that the sender's plan allows. @throws RequestError */
export async function storeSharedSecret(
  secrets: SecretSharingServices,
  { ip, state }: Pick<EndpointContext, 'ip' | 'state'>,
  { value, kind, options, sender }: SharedSecret,
): Promise<SecretAttributes> {
  const origin = eventOriginFor(sender?.account, state)
  const { passphrase, ttl, recipients, notify } = effectiveOptions(options, sender)
  const cancelReservation =
    sender === undefined ? () => undefined : secrets.mailLimits.reserve(sender.account, recipients)
  const command = { value, kind, passphrase, ttl, recipients, notify, sender, address: ip, origin }
  const { keys, secret } = await share(secrets, command).catch((error: unknown) => {
    // If the outcome is unknown, the secret may have been stored and its e-mails may be sent.
    if (!(error instanceof OutcomeUnknown)) cancelReservation()
    throw error
  })
  if (secret.status === 'unknown') throw new Error('the shared secret is unknown')
  return toSecretAttributes(secret, sender?.email ?? 'anon', keys, secrets.clock())
}

/** Validates the options and applies the limits of the sender's plan. @throws RequestError */
function effectiveOptions(
  { passphrase, ttl, recipient: requestedRecipients, notify }: SharingOptions,
  sender: AuthenticatedSender | undefined,
) {
  if (sender === undefined && (requestedRecipients.length > 0 || notify)) {
    throw new RequestError('invalid', 'An account is required to send emails.')
  }
  checkPassphrase(passphrase)
  for (const recipient of requestedRecipients) checkRecipient(recipient)
  const recipients = requestedRecipients.slice(0, MAX_RECIPIENTS_BY_PLAN[sender?.plan ?? 'basic'])
  return { passphrase, ttl: effectiveTtl(ttl), recipients, notify }
}

export const revealSecret = endpoint({
  operationId: 'revealSecret',
  method: 'POST',
  path: '/api/v1/secret/{key}',
  summary: 'Reveal a secret. It is deleted and cannot be revealed again.',
  auth: optionalApiToken,
  pathParameters: { key: secretKey },
  body: PassphraseParameters,
  group: secretsGroup,
  headers: NO_STORE_HEADERS,
  responses: {
    200: {
      description: 'The secret.',
      schema: z.object({ value: z.string(), secret_key: z.string(), share_domain: z.literal('') }),
      example: { value: 'the door opens with 4711', secret_key: exampleRecord.secret_key, share_domain: '' },
    },
    404: {
      ...UNKNOWN_SECRET,
      description: `${UNKNOWN_SECRET.description} Also if the passphrase is wrong or missing.`,
    },
    429: 'Too many wrong passphrases. The secret is locked for 30 minutes after five, and burned after twenty.',
  },
  async handler(ctx, { secrets }: SecretServices) {
    const { key } = ctx.params
    const account = ctx.state.principal?.account
    const origin = eventOriginFor(account, ctx.state)
    const value = await reveal(secrets, { secretKey: key, ...ctx.request.body, account, address: ctx.ip, origin })
    return ok({ value, secret_key: key, share_domain: '' })
  },
})

const NOMINAL = { status: 'nominal', locale: 'en' } as const

const nominalEndpoint = {
  method: 'GET',
  group: secretsGroup,
  headers: NO_STORE_HEADERS,
  responses: {
    200: {
      description: 'Success.',
      schema: z.object({ status: z.literal('nominal'), locale: z.literal('en') }),
      example: NOMINAL,
    },
  },
  handler: () => ok(NOMINAL),
} as const

export const secretsStatus = endpoint({
  ...nominalEndpoint,
  operationId: 'secretsStatus',
  path: '/api/v1/status',
  summary: 'Check whether the secrets API is available',
  auth: optionalApiToken,
})

export const checkApiToken = endpoint({
  ...nominalEndpoint,
  operationId: 'checkApiToken',
  path: '/api/v1/authcheck',
  summary: 'Check an e-mail address and API token',
  auth: requiredApiToken,
})
