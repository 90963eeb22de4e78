import { z } from 'zod'
import { extractAddress } from '../../domain/secret/email-address.ts'
import { visibleText } from '../../domain/visible-text.ts'
import { defineParameters } from '../kit/parameters/parameters.ts'

/** 10,000 characters take 120,000 bytes if each is escaped as two `\uXXXX` or four `%XX`. */
const BODY_MAX_BYTES = 128 * 1024

const PARAMETER_OPTIONS = { rules: 'rack', maxBytes: BODY_MAX_BYTES, verbatimNumbers: ['passphrase', 'ttl'] } as const

const text = z
  .string('must be text')
  .refine((value) => value.isWellFormed(), 'must be valid Unicode, but contains an unpaired surrogate')
  .default('')

/** A decimal number with optional sign, fraction and exponent. */
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i

const SECONDS_ERROR = 'must be a number of seconds'

/** Accepts numbers and numeric texts of any value, as the original does; `effectiveTtl` applies the bounds. */
const seconds = z
  .union([z.number(), z.string()], SECONDS_ERROR)
  .transform((value, context) => {
    const text = String(value).trim()
    if (text === '') return undefined
    if (NUMBER.test(text)) return Number(text)
    context.addIssue(SECONDS_ERROR)
    return z.NEVER
  })
  .optional()

/** Distinct, non-empty addresses without display names. */
const addresses = z
  .array(z.string('must be an e-mail address, or a list of them').nullable())
  .optional()
  .transform((list = []) =>
    [...new Set(list.map((address) => extractAddress(visibleText(address ?? ''))))].filter((address) => address !== ''),
  )

const lowerCase = (value: unknown) => (typeof value === 'string' ? value.toLowerCase() : value)

const flag = z
  .preprocess(
    lowerCase,
    z.union(
      [z.boolean(), z.enum(['', 'true', '1', 'false', '0']).meta({ id: 'YesOrNoInForm' })],
      'must be 1, 0, true or false',
    ),
  )
  .transform((value) => value === true || value === 'true' || value === '1')
  .default(false)

const passphrase = text
  .describe('A passphrase that the reader needs in addition to the key. At most 1,000 characters; empty for none.')
  .meta({ examples: ['correct horse'] })

const secret = text
  .describe('The secret. At most 1,000 characters on the basic plan, 5,000 on standard, 10,000 on pro.')
  .meta({ examples: ['the door opens with 4711'] })

const options = {
  passphrase,
  ttl: seconds
    .describe('Seconds until the unread secret is deleted. Clamped to 60 to 2,592,000; 604,800 if absent or 0.')
    .meta({ examples: [3600] }),
  recipient: addresses
    .describe(
      'E-mail addresses to which the link is sent (`recipient[]`), with or without display names. At most 1 on the basic plan, 5 on standard, 10 on pro.',
    )
    .meta({ examples: [['tom@example.com']] }),
  notify: flag.describe('Send the sender an e-mail when the secret has been read.'),
}

export const GenerateParameters = defineParameters(options, PARAMETER_OPTIONS)

export const ShareParameters = defineParameters(
  {
    secret,
    ...options,
  },
  PARAMETER_OPTIONS,
)

/** The form on the front page. It contains the credentials, because a form cannot send an Authorization header. */
export const FormParameters = defineParameters(
  {
    secret,
    email: text.describe("The sender's e-mail address, with `token`. May be empty if anonymous sharing is allowed."),
    token: text.describe('An API token of the account.'),
    ...options,
  },
  PARAMETER_OPTIONS,
)

export const PassphraseParameters = defineParameters({ passphrase }, PARAMETER_OPTIONS)

export type SharingOptions = Awaited<ReturnType<(typeof GenerateParameters)['read']>>
