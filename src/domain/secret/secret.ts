import { z } from 'zod'
import type { Plan } from '../account/account.ts'
import { RequestError, type Decider } from '../decider.ts'
import { declareEvents, type EventOf } from '../event.ts'

/** One of each class is in every generated secret; look-alikes (i, l, o, 1, I, O, 0) are in none. */
const CLASSES = ['abcdefghjkmnpqrstuvwxyz', 'ABCDEFGHJKLMNPQRSTUVWXYZ', '23456789', '*$!?()@#%+=-_']
const ALL = CLASSES.join('')
const LENGTH = 12

/**
 * 12 characters that can be read aloud.
 * @param below a random integer from 0 to under its argument, of a CSPRNG and without bias
 */
export function generateSecretValue(below: (limit: number) => number): string {
  const pick = (characters: string) => characters.charAt(below(characters.length))
  const drawn = [...CLASSES.map(pick), ...Array.from({ length: LENGTH - CLASSES.length }, () => pick(ALL))]
  for (let last = drawn.length - 1; last > 0; last--) {
    const other = below(last + 1)
    const kept = drawn[last] ?? ''
    drawn[last] = drawn[other] ?? ''
    drawn[other] = kept
  }
  return drawn.join('')
}

/** Characters (Unicode code points) that a secret may have. An anonymous sender has the basic plan. */
const MAX_SECRET_LENGTHS: Readonly<Record<Plan, number>> = { basic: 1_000, standard: 5_000, pro: 10_000 }

/** Code points of a passphrase at most: more is no passphrase that somebody types. */
const PASSPHRASE_LENGTH = 1_000

/** Seconds. */
const DEFAULT_TTL_SECONDS = 7 * 86_400
const MIN_TTL_SECONDS = 60
const MAX_TTL_SECONDS = 30 * 86_400

/**
 * @param wanted seconds, fractions and what is negative or endless included; 0 or undefined is the default. Never refused:
 * the answer shows what is in force.
 */
export function effectiveTtl(wanted: number | undefined): number {
  if (wanted === undefined || wanted === 0) return DEFAULT_TTL_SECONDS
  return Math.floor(Math.min(MAX_TTL_SECONDS, Math.max(MIN_TTL_SECONDS, wanted)))
}

/** Addresses that one secret's link is mailed to. */
export const MAX_RECIPIENTS_BY_PLAN: Readonly<Record<Plan, number>> = { basic: 1, standard: 5, pro: 10 }
export const MAX_RECIPIENTS = MAX_RECIPIENTS_BY_PLAN.pro

/** @throws Refusal invalid, or too-large: nothing is ever cut short */
export function checkSecret(secret: string, plan: Plan): void {
  if (secret === '') throw new RequestError('invalid', 'You did not provide anything to share')
  const limit = MAX_SECRET_LENGTHS[plan]
  if (isLonger(secret, limit)) {
    throw new RequestError(
      'too-large',
      `Secret value exceeds the maximum size of ${limit} characters of the ${plan} plan`,
    )
  }
}

/** Whether a secret can have it at all: to stretch another one would take long, and prove nothing. */
export const isPossiblePassphrase = (passphrase: string): boolean => !isLonger(passphrase, PASSPHRASE_LENGTH)

/** @throws Refusal invalid */
export function checkPassphrase(passphrase: string): void {
  if (!isPossiblePassphrase(passphrase)) {
    throw new RequestError('invalid', `A passphrase has at most ${PASSPHRASE_LENGTH} characters`)
  }
}

/** Counts only where the answer is open: a code point has one or two UTF-16 units. */
function isLonger(text: string, limit: number): boolean {
  if (text.length <= limit) return false
  return text.length > 2 * limit || [...text].length > limit
}

const at = z.int().min(0).describe('milliseconds since 1970, UTC')
const mail = z.enum(['link', 'notice']).describe('the link to a recipient, or the notice to the owner that it was read')
export type MailKind = z.output<typeof mail>

/** By its owner's credentials, by who has the key, or because so many wrong passphrases were tried. */
const burnedBy = z.enum(['owner', 'key', 'guesses'])
export type BurnedBy = z.output<typeof burnedBy>

/**
 * A secret that one reader may read once. What was shared is not here: events never carry a secret, a passphrase, a
 * key or a whole address. Times are milliseconds since 1970.
 */
export const secretEvents = declareEvents('secret-{digest}', {
  SecretShared: {
    about: 'A one-time secret was shared. The secret itself is in the vault alone.',
    payload: z.object({
      owner: z.int().min(1).nullable().describe('id of the account; null for an anonymous sender'),
      token: z.string().nullable().describe('id of the API token that it was shared with'),
      kind: z.enum(['shared', 'generated']),
      at,
      ttl: z.int().min(1).describe('seconds'),
      passphrase: z.boolean().describe('whether there is one'),
      recipient: z.array(z.string()).describe('addresses, obfuscated'),
      notify: z.boolean().describe('whether the owner is told when it was read'),
    }),
  },
  PassphraseTried: {
    about: 'Somebody tries a passphrase: it is written before the try, so that no two tries pass the limit at once.',
    payload: z.object({ at, for: z.enum(['reveal', 'burn']) }),
  },
  SecretRevealed: { about: 'Its one reader got it.', payload: z.object({ at }) },
  SecretBurned: {
    about: 'It was deleted before anybody read it.',
    payload: z.object({ at, by: burnedBy }),
    changes: [{ about: '`by` may be `guesses`.', upcast: (data) => data }],
  },
  SecretExpired: { about: 'Its time ran out before anybody read it.', payload: z.object({ at }) },
  MailSent: { about: 'A mail server took a mail about it.', payload: z.object({ mail, messageId: z.string(), at }) },
  MailRefused: {
    about: 'A mail server refused it for good.',
    payload: z.object({ mail, messageId: z.string(), reason: z.string(), at }),
  },
})
type SecretEventDeclarations = typeof secretEvents
export type SecretEvent = EventOf<SecretEventDeclarations>
export type SecretShared = EventOf<SecretEventDeclarations, 'SecretShared'>
export type SecretRevealed = EventOf<SecretEventDeclarations, 'SecretRevealed'>
export type SecretBurned = EventOf<SecretEventDeclarations, 'SecretBurned'>
export type SecretExpired = EventOf<SecretEventDeclarations, 'SecretExpired'>
export type MailSent = EventOf<SecretEventDeclarations, 'MailSent'>
export type MailRefused = EventOf<SecretEventDeclarations, 'MailRefused'>

/** A mail among those of its secret: the link to the first recipient is `link`, that to the second one `link-2`. */
export type MailName = MailKind | `link-${number}`

/** @param number of the recipient, from 0 */
export const linkName = (number: number): MailName => (number === 0 ? 'link' : `link-${number + 1}`)
export const mailKindOf = (name: MailName): MailKind => (name === 'notice' ? 'notice' : 'link')

export type SecretSharedData = SecretShared['data']

/** What became of a mail, by the part of its Message-ID before the @, which is its own whatever the sender's domain is. */
export type RecordedMail = {
  readonly kind: MailKind
  readonly name: string
  readonly outcome: 'sent' | 'refused' | 'not sent'
}

/** The reason of a MailRefused whose mail was not handed to any server, since its secret had ended before. */
export const NOT_SENT = 'not sent: the secret had ended'

export const isMailRecorded = ({ mails }: Pick<KnownSecret, 'mails'>, messageId: string): boolean =>
  mails.some(({ name }) => name === localPartOf(messageId))

const localPartOf = (messageId: string) => messageId.split('@', 1)[0] ?? messageId

export type Secret = { readonly status: 'unknown' } | KnownSecret
export type KnownSecret = SecretSharedData & {
  readonly tries: readonly number[]
  /** Passphrases tried in all that have not opened it, one that is being tried included. */
  readonly failedTries: number
  /** Nobody may try a passphrase before this time. */
  readonly lockedUntil: number
  readonly mails: readonly RecordedMail[]
  /** When the secret was shared, or ended. */
  readonly changedAt: number
  readonly status: 'new' | 'received' | 'burned' | 'expired'
}

/** Wrong passphrases in this window lock a secret, for so long. */
const MAX_ATTEMPTS_PER_WINDOW = 5
const ATTEMPT_WINDOW_MS = 10 * 60_000
const LOCKOUT_MS = 30 * 60_000
/** So many in all end it. */
export const MAX_TOTAL_ATTEMPTS = 20

export const expiresAt = ({ at, ttl }: Pick<SecretSharedData, 'at' | 'ttl'>): number => at + ttl * 1000
/** What is told about a secret outlives it: twice its ttl. */
export const metadataExpiresAt = ({ at, ttl }: Pick<SecretSharedData, 'at' | 'ttl'>): number => at + 2 * ttl * 1000

export const secretDecider: Decider<Secret, SecretEvent> = { initialState: { status: 'unknown' }, evolve }

/** Total: an event this version does not know leaves the state as it was. */
function evolve(secret: Secret, event: SecretEvent): Secret {
  if (event.type === 'SecretShared') return newSecret(event.data)
  if (secret.status === 'unknown') return secret
  switch (event.type) {
    case 'PassphraseTried':
      return applyPassphraseAttempt(secret, event.data.at)
    case 'SecretRevealed':
      return endSecret(withoutLastFailedAttempt(secret), 'received', event.data.at)
    case 'SecretBurned':
      return endSecret(secret, 'burned', event.data.at)
    case 'SecretExpired':
      return endSecret(secret, 'expired', event.data.at)
    case 'MailSent':
    case 'MailRefused':
      return { ...secret, mails: [...secret.mails, toRecordedMail(event)] }
    default:
      return secret
  }
}

/** Member by member: V8 takes some 10 us to spread an object and add to it, and every secret is born three times. */
const newSecret = ({ owner, token, kind, at, ttl, passphrase, recipient, notify }: SecretSharedData): KnownSecret => ({
  owner,
  token,
  kind,
  at,
  ttl,
  passphrase,
  recipient,
  notify,
  status: 'new',
  tries: [],
  failedTries: 0,
  lockedUntil: 0,
  mails: [],
  changedAt: at,
})

/** Every try counts until it has opened the secret, which then needs no lock. */
function applyPassphraseAttempt(secret: KnownSecret, at: number): KnownSecret {
  const tries = [...secret.tries.filter((earlier) => earlier > at - ATTEMPT_WINDOW_MS), at]
  const failedTries = secret.failedTries + 1
  if (tries.length < MAX_ATTEMPTS_PER_WINDOW) return { ...secret, tries, failedTries }
  return { ...secret, tries: [], failedTries, lockedUntil: at + LOCKOUT_MS }
}

/** The last try has opened it. */
const withoutLastFailedAttempt = (secret: KnownSecret): KnownSecret =>
  secret.passphrase ? { ...secret, failedTries: Math.max(0, secret.failedTries - 1) } : secret

const toRecordedMail = ({ data }: MailSent | MailRefused): RecordedMail => ({
  kind: data.mail,
  name: localPartOf(data.messageId),
  outcome: 'reason' in data ? (data.reason === NOT_SENT ? 'not sent' : 'refused') : 'sent',
})

function endSecret(secret: KnownSecret, status: 'received' | 'burned' | 'expired', at: number): KnownSecret {
  return secret.status === 'new' ? { ...secret, status, changedAt: at } : secret
}

/** The answer to everything that is not there, or not there any more: it does not tell which. */
export const unknownSecretError = () => new RequestError('missing', 'Unknown secret')

/** @throws Refusal conflict for a stream that is another secret's already */
export function share(secret: Secret, shared: SecretShared): SecretShared[] {
  if (secret.status !== 'unknown') throw new RequestError('conflict', 'There is a secret of this key already')
  return [shared]
}

/** Decides that this reader gets the value. The append's expected revision decides which reader that is. */
export function reveal(secret: Secret, now: number): SecretRevealed[] {
  requirePending(secret, now)
  return [{ type: 'SecretRevealed', data: { at: now } }]
}

export function burn(secret: Secret, now: number, by: BurnedBy): SecretBurned[] {
  requirePending(secret, now)
  return [{ type: 'SecretBurned', data: { at: now, by } }]
}

/**
 * A try counts before it is made, so that parallel ones get no further than ones in a row. Where a secret has had all the
 * tries of its life, and whoever made the last one has died before its end was on record, it ends now.
 * @throws Refusal missing, too-many while the secret is locked
 */
export function tryPassphrase(secret: Secret, now: number, purpose: 'reveal' | 'burn'): SecretEvent[] {
  const known = requirePending(secret, now)
  if (known.failedTries >= MAX_TOTAL_ATTEMPTS && now >= known.lockedUntil) return burn(known, now, 'guesses')
  requireUnlocked(known, now)
  return [{ type: 'PassphraseTried', data: { at: now, for: purpose } }]
}

/** Behind a wrong passphrase: the last one that a secret may have ends it. */
export function burnAfterMaxAttempts(secret: Secret, now: number): SecretBurned[] {
  if (secret.status !== 'new' || secret.failedTries < MAX_TOTAL_ATTEMPTS) return []
  return [{ type: 'SecretBurned', data: { at: now, by: 'guesses' } }]
}

/** Nothing when it has ended already, or has not expired yet. */
export function expire(secret: Secret, now: number): SecretExpired[] {
  if (secret.status !== 'new' || now < expiresAt(secret)) return []
  return [{ type: 'SecretExpired', data: { at: expiresAt(secret) } }]
}

export type MailOutcome = { readonly mail: MailKind; readonly messageId: string; readonly refused?: string }

/** Nothing when the outcome of this mail is on record. */
export function recordMailOutcome(secret: Secret, now: number, outcome: MailOutcome): (MailSent | MailRefused)[] {
  const { mail, messageId, refused } = outcome
  if (secret.status === 'unknown' || isMailRecorded(secret, messageId)) return []
  if (refused === undefined) return [{ type: 'MailSent', data: { mail, messageId, at: now } }]
  return [{ type: 'MailRefused', data: { mail, messageId, reason: refused, at: now } }]
}

/**
 * A secret that can still be read.
 * @throws Refusal missing
 */
export function requirePending(secret: Secret, now: number): KnownSecret {
  if (secret.status !== 'new' || now >= expiresAt(secret)) throw unknownSecretError()
  return secret
}

/**
 * A secret of which it is still told what became of it.
 * @throws Refusal missing
 */
export function requireUnexpiredMetadata(secret: Secret, now: number): KnownSecret {
  if (secret.status === 'unknown' || now >= metadataExpiresAt(secret)) throw unknownSecretError()
  return secret
}

/** @throws Refusal too-many, to everyone and whatever they send */
export function requireUnlocked(secret: KnownSecret, now: number): void {
  if (now >= secret.lockedUntil) return
  const seconds = Math.ceil((secret.lockedUntil - now) / 1000)
  throw new RequestError('too-many', `Too many wrong passphrases; try again in ${seconds} seconds`, seconds)
}
