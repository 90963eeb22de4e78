import { z } from 'zod'
import { revealSecret as reveal } from '../../commands/secrets/secrets.ts'
import { ok } from '../kit/answer.ts'
import { endpoint } from '../kit/endpoint.ts'
import { originFor } from '../kit/authenticate.ts'
import { secretsFamily } from './errors.ts'
import { PassphraseParameters } from './parameters.ts'
import { newRecord, secretKey, UNKNOWN_SECRET, UNSTORED } from './shapes.ts'
import { anyone, type SecretServices } from './sender.ts'

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
