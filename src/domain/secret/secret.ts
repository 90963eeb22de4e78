import { z } from 'zod'
import type { Plan } from '../account/account.ts'
import type { Fold } from '../fold.ts'
import { RequestError } from '../request-error.ts'
import { declareEvents, type EventOf } from '../event.ts'

/** Every generated secret has at least one character of each class. Characters that look alike (i, l, o, 1, I, O, 0) are excluded. */
const CLASSES = ['abcdefghjkmnpqrstuvwxyz', 'ABCDEFGHJKLMNPQRSTUVWXYZ', '23456789', '*$!?()@#%+=-_']
const ALL_CHARACTERS = CLASSES.join('')
const GENERATED_SECRET_LENGTH = 12

/**
 * A random secret of 12 characters that can be read aloud.
 * @param randomBelow returns an unbiased random integer, at least 0 and less than its argument, from a CSPRNG
 */
export function generateSecretValue(randomBelow: (limit: number) => number): string {
  const pick = (alphabet: string) => alphabet.charAt(randomBelow(alphabet.length))
  const characters = [
    ...CLASSES.map(pick),
    ...Array.from({ length: GENERATED_SECRET_LENGTH - CLASSES.length }, () => pick(ALL_CHARACTERS)),
  ]
  for (let last = characters.length - 1; last > 0; last--) {
    const other = randomBelow(last + 1)
    const lastCharacter = characters[last] ?? ''
    characters[last] = characters[other] ?? ''
    characters[other] = lastCharacter
  }
  return characters.join('')
}

/** Maximum length of a secret in characters (Unicode code points). Anonymous senders have the basic plan. */
const MAX_SECRET_LENGTHS: Readonly<Record<Plan, number>> = { basic: 1_000, standard: 5_000, pro: 10_000 }

/** Maximum length of a passphrase in code points. */
const MAX_PASSPHRASE_LENGTH = 1_000

const DEFAULT_TTL_SECONDS = 7 * 86_400
const MIN_TTL_SECONDS = 60
const MAX_TTL_SECONDS = 30 * 86_400

/**
 * The ttl that applies, in whole seconds. Never rejects: the response shows the ttl in effect.
 * @param requestedTtl seconds; clamped to 60 s and 30 days. 0 or undefined: 7 days
 */
export function effectiveTtl(requestedTtl: number | undefined): number {
  if (requestedTtl === undefined || requestedTtl === 0) return DEFAULT_TTL_SECONDS
  return Math.floor(Math.min(MAX_TTL_SECONDS, Math.max(MIN_TTL_SECONDS, requestedTtl)))
}

/** Maximum number of recipients of one secret's link. */
export const MAX_RECIPIENTS_BY_PLAN: Readonly<Record<Plan, number>> = { basic: 1, standard: 5, pro: 10 }
export const MAX_RECIPIENTS = MAX_RECIPIENTS_BY_PLAN.pro

/** A secret is never truncated. @throws RequestError invalid if empty, too-large if over the plan's limit */
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

/** False for a text over the maximum length, which no secret can have as its passphrase: its slow hash need not be computed. */
export const isPossiblePassphrase = (passphrase: string): boolean => !isLonger(passphrase, MAX_PASSPHRASE_LENGTH)

/** @throws RequestError invalid */
export function checkPassphrase(passphrase: string): void {
  if (!isPossiblePassphrase(passphrase)) {
    throw new RequestError('invalid', `passphrase must have at most ${MAX_PASSPHRASE_LENGTH} characters`)
  }
}

/** Counts code points only if needed: each has one or two UTF-16 code units. */
function isLonger(text: string, limit: number): boolean {
  if (text.length <= limit) return false
  return text.length > 2 * limit || [...text].length > limit
}

const at = z.int().min(0).describe('milliseconds since 1970, UTC')
const mail = z
  .enum(['link', 'notice'])
  .describe('`link`: the link, sent to a recipient; `notice`: the notice to the owner that the secret was read')
type MailKind = z.output<typeof mail>

/** With its owner's credentials, by somebody who has its key, or after too many wrong passphrases. */
const burnedBy = z.enum(['owner', 'key', 'guesses'])
type BurnedBy = z.output<typeof burnedBy>

/**
 * A secret can be revealed once. Events never contain the secret, the passphrase, a key or an unobfuscated recipient. Times
 * are milliseconds since 1970.
 */
export const secretEvents = declareEvents('secret-{digest}', {
  SecretShared: {
    about: 'A one-time secret was shared. The secret itself is stored only in the vault.',
    payload: z.object({
      owner: z.int().min(1).nullable().describe('id of the account; null for an anonymous sender'),
      token: z.string().nullable().describe('id of the API token that authenticated the request'),
      kind: z.enum(['shared', 'generated']),
      at,
      ttl: z.int().min(1).describe('seconds'),
      passphrase: z.boolean().describe('whether the secret has a passphrase'),
      recipient: z.array(z.string()).describe('obfuscated addresses'),
      notify: z.boolean().describe('whether the owner is notified when the secret is read'),
    }),
  },
  PassphraseTried: {
    about:
      'A passphrase is about to be checked. The event is appended before the check, so that concurrent attempts cannot exceed the limit.',
    payload: z.object({ at, for: z.enum(['reveal', 'burn']) }),
  },
  SecretRevealed: { about: 'The secret was revealed to its one reader.', payload: z.object({ at }) },
  SecretBurned: {
    about: 'The secret was deleted before it was read.',
    payload: z.object({ at, by: burnedBy }),
    changes: [{ about: '`by` may be `guesses`.', upcast: (data) => data }],
  },
  SecretExpired: { about: 'The ttl of the secret ended before it was read.', payload: z.object({ at }) },
  MailSent: {
    about: 'A mail server accepted a mail about the secret.',
    payload: z.object({ mail, messageId: z.string(), at }),
  },
  MailRefused: {
    about: 'A mail server refused a mail about the secret permanently.',
    payload: z.object({ mail, messageId: z.string(), reason: z.string(), at }),
  },
})
type SecretEventDeclarations = typeof secretEvents
export type SecretEvent = EventOf<SecretEventDeclarations>
export type SecretShared = EventOf<SecretEventDeclarations, 'SecretShared'>
type SecretRevealed = EventOf<SecretEventDeclarations, 'SecretRevealed'>
type SecretBurned = EventOf<SecretEventDeclarations, 'SecretBurned'>
export type SecretExpired = EventOf<SecretEventDeclarations, 'SecretExpired'>
type MailSent = EventOf<SecretEventDeclarations, 'MailSent'>
type MailRefused = EventOf<SecretEventDeclarations, 'MailRefused'>

/** Identifies a mail of a secret: the link to the first recipient is `link`, to the second `link-2`. */
export type MailName = MailKind | `link-${number}`

/** @param number index of the recipient, from 0 */
export const linkName = (number: number): MailName => (number === 0 ? 'link' : `link-${number + 1}`)
export const mailKindOf = (name: MailName): MailKind => (name === 'notice' ? 'notice' : 'link')

export type SecretSharedData = SecretShared['data']

/** The outcome of a mail. `name` is the part of its Message-ID before the @, which does not depend on the sender's domain. */
export type RecordedMail = {
  readonly kind: MailKind
  readonly name: string
  readonly outcome: 'sent' | 'refused' | 'not sent'
}

/** The `reason` of a MailRefused for a mail that was never sent, because its secret had ended. */
export const NOT_SENT = 'not sent: the secret had ended'

export const isMailRecorded = ({ mails }: Pick<KnownSecret, 'mails'>, messageId: string): boolean =>
  mails.some(({ name }) => name === localPartOf(messageId))

const localPartOf = (messageId: string) => messageId.split('@', 1)[0] ?? messageId

export type Secret = { readonly status: 'unknown' } | KnownSecret
/** Stored as a whole, under these names, by the read model of secrets: a renamed member needs a new version of it. */
export type KnownSecret = SecretSharedData & {
  /** Times of the attempts within the window, in milliseconds since 1970. */
  readonly tries: readonly number[]
  /** Passphrases tried since the secret was shared. */
  readonly attempts: number
  /** Whether a holder of a key revealed or burned it: then the last attempt was right. */
  readonly opened: boolean
  /** Passphrases are rejected before this time. */
  readonly lockedUntil: number
  readonly mails: readonly RecordedMail[]
  /** When the secret was shared or ended. */
  readonly changedAt: number
  readonly status: 'new' | 'received' | 'burned' | 'expired'
}

/** This many attempts within the window lock the secret. */
const MAX_ATTEMPTS_PER_WINDOW = 5
const ATTEMPT_WINDOW_MS = 10 * 60_000
const LOCKOUT_MS = 30 * 60_000
/** This many failed attempts in total burn the secret. */
export const MAX_TOTAL_ATTEMPTS = 20

export const expiresAt = ({ at, ttl }: Pick<SecretSharedData, 'at' | 'ttl'>): number => at + ttl * 1000
/** Metadata outlives the secret: twice its ttl. */
export const metadataExpiresAt = ({ at, ttl }: Pick<SecretSharedData, 'at' | 'ttl'>): number => at + 2 * ttl * 1000

export const secretFold: Fold<Secret, SecretEvent> = { initialState: { status: 'unknown' }, evolve }

function evolve(secret: Secret, event: SecretEvent): Secret {
  if (event.type === 'SecretShared') return newSecret(event.data)
  if (secret.status === 'unknown') return secret
  switch (event.type) {
    case 'PassphraseTried':
      return applyPassphraseAttempt(secret, event.data.at)
    case 'SecretRevealed':
      return endSecret(secret, 'received', event.data.at, true)
    case 'SecretBurned':
      return endSecret(secret, 'burned', event.data.at, event.data.by === 'key')
    case 'SecretExpired':
      return endSecret(secret, 'expired', event.data.at)
    case 'MailSent':
    case 'MailRefused':
      return { ...secret, mails: [...secret.mails, toRecordedMail(event)] }
    default:
      return secret
  }
}

const newSecret = (data: SecretSharedData): KnownSecret => ({
  ...data,
  status: 'new',
  tries: [],
  attempts: 0,
  opened: false,
  lockedUntil: 0,
  mails: [],
  changedAt: data.at,
})

function applyPassphraseAttempt(secret: KnownSecret, at: number): KnownSecret {
  const tries = [...secret.tries.filter((earlier) => earlier > at - ATTEMPT_WINDOW_MS), at]
  const attempts = secret.attempts + 1
  if (tries.length < MAX_ATTEMPTS_PER_WINDOW) return { ...secret, tries, attempts }
  return { ...secret, tries: [], attempts, lockedUntil: at + LOCKOUT_MS }
}

/** Attempts that did not open the secret, including those being checked. */
export const wrongPassphrases = ({ attempts, opened }: Pick<KnownSecret, 'attempts' | 'opened'>): number =>
  opened ? Math.max(0, attempts - 1) : attempts

const toRecordedMail = ({ data }: MailSent | MailRefused): RecordedMail => ({
  kind: data.mail,
  name: localPartOf(data.messageId),
  outcome: 'reason' in data ? (data.reason === NOT_SENT ? 'not sent' : 'refused') : 'sent',
})

function endSecret(
  secret: KnownSecret,
  status: 'received' | 'burned' | 'expired',
  changedAt: number,
  opened = false,
): KnownSecret {
  return secret.status === 'new' ? { ...secret, status, changedAt, opened } : secret
}

/** The one error for an unknown, ended or expired secret, so that callers cannot tell these apart. */
export const unknownSecretError = () => new RequestError('missing', 'Unknown secret')

/** @throws RequestError conflict if the stream already has a secret */
export function share(secret: Secret, event: SecretShared): SecretShared[] {
  if (secret.status !== 'unknown') throw new RequestError('conflict', 'A secret with this key already exists')
  return [event]
}

/** Of concurrent readers one gets the value: the one whose append succeeds at the expected revision. */
export function reveal(secret: Secret, now: number): SecretRevealed[] {
  requirePending(secret, now)
  return [{ type: 'SecretRevealed', data: { at: now } }]
}

export function burn(secret: Secret, now: number, by: BurnedBy): SecretBurned[] {
  requirePending(secret, now)
  return [{ type: 'SecretBurned', data: { at: now, by } }]
}

/**
 * Records an attempt before the passphrase is checked, so that parallel attempts are limited like sequential ones. If the
 * process died after the last allowed attempt, before SecretBurned was appended, the secret is burned now.
 * @throws RequestError missing; too-many while the secret is locked
 */
export function tryPassphrase(secret: Secret, now: number, purpose: 'reveal' | 'burn'): SecretEvent[] {
  const pendingSecret = requirePending(secret, now)
  if (pendingSecret.attempts >= MAX_TOTAL_ATTEMPTS && now >= pendingSecret.lockedUntil)
    return burn(pendingSecret, now, 'guesses')
  requireUnlocked(pendingSecret, now)
  return [{ type: 'PassphraseTried', data: { at: now, for: purpose } }]
}

/** Call it after a wrong passphrase: burns the secret after the last allowed attempt. */
export function burnAfterMaxAttempts(secret: Secret, now: number): SecretBurned[] {
  if (secret.status !== 'new' || secret.attempts < MAX_TOTAL_ATTEMPTS) return []
  return [{ type: 'SecretBurned', data: { at: now, by: 'guesses' } }]
}

/** No event if the secret has already ended or is not yet expired. */
export function expire(secret: Secret, now: number): SecretExpired[] {
  if (secret.status !== 'new' || now < expiresAt(secret)) return []
  return [{ type: 'SecretExpired', data: { at: expiresAt(secret) } }]
}

export type MailOutcome = { readonly mail: MailKind; readonly messageId: string; readonly refused?: string }

/** No event if the outcome of this mail is already recorded. */
export function recordMailOutcome(secret: Secret, now: number, outcome: MailOutcome): (MailSent | MailRefused)[] {
  const { mail, messageId, refused } = outcome
  if (secret.status === 'unknown' || isMailRecorded(secret, messageId)) return []
  if (refused === undefined) return [{ type: 'MailSent', data: { mail, messageId, at: now } }]
  return [{ type: 'MailRefused', data: { mail, messageId, reason: refused, at: now } }]
}

/** @throws RequestError missing unless the secret can still be read */
export function requirePending(secret: Secret, now: number): KnownSecret {
  if (secret.status !== 'new' || now >= expiresAt(secret)) throw unknownSecretError()
  return secret
}

/** @throws RequestError missing if the secret is unknown or its metadata has expired */
export function requireUnexpiredMetadata(secret: Secret, now: number): KnownSecret {
  if (secret.status === 'unknown' || now >= metadataExpiresAt(secret)) throw unknownSecretError()
  return secret
}

/** @throws RequestError too-many while the secret is locked, with a correct passphrase too */
export function requireUnlocked(secret: KnownSecret, now: number): void {
  if (now >= secret.lockedUntil) return
  const seconds = Math.ceil((secret.lockedUntil - now) / 1000)
  throw new RequestError('too-many', `Too many wrong passphrases; try again in ${seconds} seconds`, seconds)
}
