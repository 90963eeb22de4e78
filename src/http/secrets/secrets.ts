import { randomInt } from 'node:crypto'
import { z } from 'zod'
import { revealSecret as reveal } from '../../commands/secrets/secrets.ts'
import { shareSecret as keepSecret, type ShareSecret } from '../../commands/secrets/share-secret.ts'
import { Refusal } from '../../domain/decider.ts'
import { checkRecipient } from '../../domain/secret/address.ts'
import { checkPassphrase, checkSecret, generated, RECIPIENTS, ttlInForce } from '../../domain/secret/secret.ts'
import { attributes, type Attributes } from '../../domain/secret/render.ts'
import { OutcomeUnknown } from '../../stores/ports/event-store.ts'
import { ok } from '../kit/answer.ts'
import { originFor, type Requested } from '../kit/authenticate.ts'
import { endpoint, type Asked } from '../kit/endpoint.ts'
import { account, anyone, secretsFamily, sharer, type SecretServices, type Sender } from './sender.ts'
import { GenerateParameters, PassphraseParameters, ShareParameters, type SharingOptions } from './parameters.ts'
import { newRecord, secretKey, SecretRecord, UNKNOWN_SECRET, UNSTORED } from './records.ts'

export const shareSecret = endpoint({
  name: 'shareSecret',
  method: 'POST',
  path: ['/api/v1/share', '/api/v1/create'],
  about: 'Keeps a value for one reader, who gets it once, and tells its keys to the sender.',
  who: sharer,
  body: ShareParameters,
  family: secretsFamily,
  headers: UNSTORED,
  answers: {
    200: { about: 'It is kept.', schema: SecretRecord, example: newRecord },
    413: 'The secret is longer than the plan allows. Nothing is ever cut short.',
    422: 'There is nothing to share, or an address or a number that is none.',
  },
  async run(asked, { secrets }: SecretServices) {
    const value = asked.body.secret
    checkSecret(value, asked.asker?.plan ?? 'basic')
    return ok(await keep(secrets, asked, { value, kind: 'shared' }))
  },
})

export const generateSecret = endpoint({
  name: 'generateSecret',
  method: 'POST',
  path: '/api/v1/generate',
  about: 'Makes a value of 12 characters, keeps it as share does, and tells it to the sender this once.',
  who: sharer,
  body: GenerateParameters,
  family: secretsFamily,
  headers: UNSTORED,
  answers: {
    200: {
      about: 'It is kept.',
      schema: SecretRecord.extend({ value: z.string().describe('The secret.') }),
      example: { ...newRecord, value: 'wX7kQm3bRz9T' },
    },
    422: 'An address or a number is none.',
  },
  async run(asked, { secrets }: SecretServices) {
    const value = generated((limit) => randomInt(limit))
    return ok({ ...(await keep(secrets, asked, { value, kind: 'generated' })), value })
  },
})

type Sharing = SecretServices['secrets']
type KeptOf = 'body' | 'asker' | 'address' | keyof Requested

/** Keeps a value as its sender may have it kept. @throws Refusal */
export async function keep(
  secrets: Sharing,
  asked: Pick<Asked<Sender | undefined, SharingOptions>, KeptOf>,
  { value, kind }: Pick<ShareSecret, 'value' | 'kind'>,
): Promise<Attributes> {
  const { body, asker: sender, address } = asked
  const origin = originFor(sender?.account, asked)
  const { passphrase, ttl, recipients, notify } = allowed(body, sender)
  const takeBack = sender === undefined ? () => undefined : secrets.mailLimits.count(sender.account, recipients)
  const wish = { value, kind, passphrase, ttl, recipients, notify, sender, address, origin }
  const { keys, secret } = await keepSecret(secrets, wish).catch((error: unknown) => {
    // Where nobody knows whether it was stored, its mails may go out.
    if (!(error instanceof OutcomeUnknown)) takeBack()
    throw error
  })
  if (secret.status === 'unknown') throw new Error('what was shared is not known')
  return attributes(secret, sender?.email ?? 'anon', keys, secrets.clock())
}

/** What of the options is in force for this sender. @throws Refusal */
function allowed({ passphrase, ttl, recipient: all, notify }: SharingOptions, sender: Sender | undefined) {
  if (sender === undefined && (all.length > 0 || notify)) {
    throw new Refusal('invalid', 'An account is required to send emails.')
  }
  checkPassphrase(passphrase)
  for (const recipient of all) checkRecipient(recipient)
  const recipients = all.slice(0, RECIPIENTS[sender?.plan ?? 'basic'])
  return { passphrase, ttl: ttlInForce(ttl), recipients, notify }
}

export const revealSecret = endpoint({
  name: 'revealSecret',
  method: 'POST',
  path: '/api/v1/secret/{key}',
  about: 'Tells a secret to who has its key, and its passphrase where it has one. Nobody gets it a second time.',
  who: anyone,
  parameters: { key: secretKey },
  body: PassphraseParameters,
  family: secretsFamily,
  headers: UNSTORED,
  answers: {
    200: {
      about: 'The secret, this once.',
      schema: z.object({ value: z.string(), secret_key: z.string(), share_domain: z.literal('') }),
      example: { value: 'the door opens with 4711', secret_key: newRecord.secret_key, share_domain: '' },
    },
    404: { ...UNKNOWN_SECRET, about: `${UNKNOWN_SECRET.about} Also where the passphrase is wrong or missing.` },
    429: 'Too many wrong passphrases: it is locked for 30 minutes after five, and burned after twenty.',
  },
  async run(asked, { secrets }: SecretServices) {
    const { params, body, asker, address } = asked
    const { key } = params
    const account = asker?.account
    const origin = originFor(account, asked)
    const value = await reveal(secrets, { secretKey: key, ...body, account, address, origin })
    return ok({ value, secret_key: key, share_domain: '' })
  },
})

const NOMINAL = { status: 'nominal', locale: 'en' } as const

const common = {
  method: 'GET',
  family: secretsFamily,
  headers: UNSTORED,
  answers: {
    200: {
      about: 'It is.',
      schema: z.object({ status: z.literal('nominal'), locale: z.literal('en') }),
      example: NOMINAL,
    },
  },
  run: () => ok(NOMINAL),
} as const

export const secretsStatus = endpoint({
  ...common,
  name: 'secretsStatus',
  path: '/api/v1/status',
  about: 'Whether the secrets API is there.',
  who: anyone,
})

export const checkApiToken = endpoint({
  ...common,
  name: 'checkApiToken',
  path: '/api/v1/authcheck',
  about: 'Whether an e-mail address and an API token are right.',
  who: account,
})
