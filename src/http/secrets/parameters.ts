import { z } from 'zod'
import { extractAddress } from '../../domain/secret/email-address.ts'
import { visibleText } from '../../domain/visible-text.ts'
import { defineParameters } from '../kit/parameters/parameters.ts'

/** Bytes of a body at most: 10,000 characters take 120,000 where each is escaped as two `\uXXXX`, or as four `%XX`. */
const BODY_MAX_BYTES = 128 * 1024

const PARAMETER_OPTIONS = { rules: 'rack', maxBytes: BODY_MAX_BYTES, verbatimNumbers: ['passphrase', 'ttl'] } as const

/** Empty where it was not given. */
const text = z
  .string('must be text')
  .refine((value) => value.isWellFormed(), "must be Unicode: it has half a surrogate pair, which UTF-8 can't hold")
  .default('')

/** As numbers are written: a sign, digits, a fraction, an exponent. */
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i

const SECONDS_ERROR = 'must be a number of seconds'

/** A number is read from whatever it stands in, as the original does, and one out of bounds is no fault. */
const seconds = z
  .union([z.number(), z.string()], SECONDS_ERROR)
  .transform((written, faults) => {
    const text = String(written).trim()
    if (text === '') return undefined
    if (NUMBER.test(text)) return Number(text)
    faults.addIssue(SECONDS_ERROR)
    return z.NEVER
  })
  .optional()

/** Each once, without names, and none that is empty. */
const addresses = z
  .array(z.string('must be an e-mail address, or a list of them').nullable())
  .optional()
  .transform((list = []) =>
    [...new Set(list.map((address) => extractAddress(visibleText(address ?? ''))))].filter((address) => address !== ''),
  )

const flag = z
  .union([z.boolean(), z.enum(['', 'true', '1', 'false', '0']).meta({ id: 'YesOrNoInForm' })], 'must be true or false')
  .transform((value) => value === true || value === 'true' || value === '1')
  .default(false)

const passphrase = text.describe('What its reader must know beside the key. At most 1,000 characters; empty for none.')

const options = {
  passphrase,
  ttl: seconds
    .describe('Seconds until it is deleted unread: 60 to 2,592,000 are in force, 604,800 where it is absent or 0.')
    .meta({ examples: [3600] }),
  recipient: addresses
    .describe(
      'E-mail addresses that the link is sent to (`recipient[]`), with or without a name: 1 on the basic plan, 5 on standard, 10 on pro.',
    )
    .meta({ examples: [['tom@example.com']] }),
  notify: flag.describe('Whether the sender gets an e-mail once the secret was read.'),
}

/** What can be asked of a secret that is made here. */
export const GenerateParameters = defineParameters(options, PARAMETER_OPTIONS)

export const ShareParameters = defineParameters(
  {
    secret: text
      .describe('What its one reader gets: 1,000 characters on the basic plan, 5,000 on standard, 10,000 on pro.')
      .meta({ examples: ['the door opens with 4711'] }),
    ...options,
  },
  PARAMETER_OPTIONS,
)

/** What the form on the front page sends: whom it is from stands in it, since a browser can't send it otherwise. */
export const FormParameters = defineParameters(
  {
    secret: text,
    email: text.describe("The sender's e-mail address, with `token`; empty where sharing is open to everybody."),
    token: text.describe('An API token of the sender.'),
    ...options,
  },
  PARAMETER_OPTIONS,
)

export const PassphraseParameters = defineParameters({ passphrase }, PARAMETER_OPTIONS)

/** What is asked of a secret beside its value. */
export type SharingOptions = Awaited<ReturnType<(typeof GenerateParameters)['read']>>
