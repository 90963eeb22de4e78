import { z } from 'zod'
import { burnSecret as burn, custidOf, readReceipt, type Secrets } from '../../commands/secrets/secrets.ts'
import { attributes, type Attributes } from '../../domain/secret/render.ts'
import { ok } from '../kit/answer.ts'
import { endpoint } from '../kit/endpoint.ts'
import { originFor } from '../kit/authenticate.ts'
import { secretsFamily } from './errors.ts'
import { PassphraseParameters } from './parameters.ts'
import { metadataKey, newRecord, SecretRecord, UNKNOWN_SECRET, UNSTORED } from './shapes.ts'
import { account, anyone, type SecretServices } from './sender.ts'

/** The names that the original has had for the same thing; the first is the documented one. */
const at = (rest: string) => ['private', 'metadata', 'receipt'].map((name) => `/api/v1/${name}/${rest}`)

export const readSecretRecord = endpoint({
  name: 'readSecretRecord',
  method: ['GET', 'POST'],
  path: at('{key}'),
  about: 'What the sender of a secret may know of it, by its metadata key. Changes nothing.',
  who: anyone,
  parameters: { key: metadataKey },
  family: secretsFamily,
  headers: UNSTORED,
  answers: {
    200: { about: 'The record.', schema: SecretRecord, example: newRecord },
    404: UNKNOWN_SECRET,
  },
  async run({ params: { key } }, { secrets }: SecretServices) {
    return ok(await shown(secrets, await readReceipt(secrets, key)))
  },
})

/** As many letters of the secret key as a person needs to tell secrets apart; the original shows them. */
const SHORT_KEY = 6

const burnedRecord = { ...newRecord, secret_key: '', secret_ttl: null, state: 'burned' } as const

export const burnSecret = endpoint({
  name: 'burnSecret',
  method: 'POST',
  path: at('{key}/burn'),
  about:
    'Deletes a secret that nobody has read. Its owner, by credentials, needs no passphrase; who has only the metadata ' +
    'key needs the one it was shared with.',
  who: anyone,
  parameters: { key: metadataKey },
  body: PassphraseParameters,
  family: secretsFamily,
  headers: UNSTORED,
  answers: {
    200: {
      about: 'It is gone: the record, in both of the shapes that clients of the original read.',
      schema: SecretRecord.extend({
        status: z.literal('burned'),
        state: SecretRecord,
        secret_shortkey: z.string().describe('The first letters of its key.'),
      }),
      example: {
        ...burnedRecord,
        status: 'burned',
        state: burnedRecord,
        secret_shortkey: newRecord.secret_key.slice(0, SHORT_KEY),
      },
    },
    404: { ...UNKNOWN_SECRET, about: `${UNKNOWN_SECRET.about} Also where the passphrase is wrong or missing.` },
    429: 'Too many wrong passphrases.',
  },
  async run(asked, { secrets }: SecretServices) {
    const { params, body, asker, address } = asked
    const wish = { metadataKey: params.key, ...body, account: asker?.account, address }
    const burned = await burn(secrets, { ...wish, origin: originFor(asker?.account, asked) })
    const state = await shown(secrets, burned)
    return ok({ ...state, status: 'burned', state, secret_shortkey: burned.keys.secretKey.slice(0, SHORT_KEY) })
  },
})

export const listRecentSecrets = endpoint({
  name: 'listRecentSecrets',
  method: 'GET',
  path: at('recent'),
  about: 'What the account has shared in 30 days, newest first.',
  who: account,
  family: secretsFamily,
  headers: UNSTORED,
  answers: {
    200: {
      about: 'The records, without their secret keys.',
      schema: z.array(SecretRecord),
      headers: { 'X-Consistency': '`pending` where what was shared last may be missing yet' },
      example: [{ ...newRecord, secret_key: null }],
    },
  },
  async run({ asker, patience }, { secrets: { recent } }: SecretServices) {
    const { secrets, current } = await recent.of(asker, patience)
    return ok(secrets, current ? {} : { 'X-Consistency': 'pending' })
  },
})

type Found = Awaited<ReturnType<typeof readReceipt>>

const shown = async (secrets: Secrets, { keys, secret }: Found): Promise<Attributes> =>
  attributes(secret, await custidOf(secrets, secret.owner), keys, secrets.clock())
