import { randomInt } from 'node:crypto'
import { z } from 'zod'
import { shareSecret as keepSecret, type ShareSecret } from '../../commands/secrets/share-secret.ts'
import { Refusal } from '../../domain/refusal.ts'
import { checkRecipient } from '../../domain/secret/address.ts'
import { generated } from '../../domain/secret/generate.ts'
import { checkPassphrase, checkSecret, RECIPIENTS, ttlInForce } from '../../domain/secret/limits.ts'
import { attributes, type Attributes } from '../../domain/secret/render.ts'
import { OutcomeUnknown } from '../../stores/ports/event-store.ts'
import { ok } from '../kit/answer.ts'
import { endpoint, type Asked } from '../kit/endpoint.ts'
import { originFor, type Requested } from '../kit/authenticate.ts'
import { secretsFamily } from './errors.ts'
import { GenerateParameters, ShareParameters, type SharingOptions } from './parameters.ts'
import { newRecord, SecretRecord, UNSTORED } from './shapes.ts'
import { sharer, type Sender, type SecretServices } from './sender.ts'

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
