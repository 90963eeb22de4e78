import { z } from 'zod'
import type { Plan } from '../account/account.ts'
import { Refusal, type Decider } from '../decider.ts'
import { eventsIn, type EventOf } from '../event.ts'

/** One of each class is in every generated secret; look-alikes (i, l, o, 1, I, O, 0) are in none. */
const CLASSES = ['abcdefghjkmnpqrstuvwxyz', 'ABCDEFGHJKLMNPQRSTUVWXYZ', '23456789', '*$!?()@#%+=-_']
const ALL = CLASSES.join('')
const LENGTH = 12

/**
 * 12 characters that can be read aloud.
 * @param below a random integer from 0 to under its argument, of a CSPRNG and without bias
 */
export function generated(below: (limit: number) => number): string {
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
const LENGTHS: Readonly<Record<Plan, number>> = { basic: 1_000, standard: 5_000, pro: 10_000 }

/** Code points of a passphrase at most: more is no passphrase that somebody types. */
const PASSPHRASE_LENGTH = 1_000

/** Seconds. */
const DEFAULT_TTL = 7 * 86_400
const SHORTEST_TTL = 60
const LONGEST_TTL = 30 * 86_400

/**
 * @param wanted seconds, fractions and what is negative or endless included; 0 or undefined is the default. Never refused:
 * the answer shows what is in force.
 */
export function ttlInForce(wanted: number | undefined): number {
  if (wanted === undefined || wanted === 0) return DEFAULT_TTL
  return Math.floor(Math.min(LONGEST_TTL, Math.max(SHORTEST_TTL, wanted)))
}

/** Addresses that one secret's link is mailed to. */
export const RECIPIENTS: Readonly<Record<Plan, number>> = { basic: 1, standard: 5, pro: 10 }
export const MOST_RECIPIENTS = RECIPIENTS.pro

/** @throws Refusal invalid, or too-large: nothing is ever cut short */
export function checkSecret(secret: string, plan: Plan): void {
  if (secret === '') throw new Refusal('invalid', 'You did not provide anything to share')
  const limit = LENGTHS[plan]
  if (isLonger(secret, limit)) {
    throw new Refusal('too-large', `Secret value exceeds the maximum size of ${limit} characters of the ${plan} plan`)
  }
}

/** Whether a secret can have it at all: to stretch another one would take long, and prove nothing. */
export const mayBePassphrase = (passphrase: string): boolean => !isLonger(passphrase, PASSPHRASE_LENGTH)

/** @throws Refusal invalid */
export function checkPassphrase(passphrase: string): void {
  if (!mayBePassphrase(passphrase)) {
    throw new Refusal('invalid', `A passphrase has at most ${PASSPHRASE_LENGTH} characters`)
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
export const secretEvents = eventsIn('secret-{digest}', {
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
type Events = typeof secretEvents
export type SecretEvent = EventOf<Events>
export type SecretShared = EventOf<Events, 'SecretShared'>
export type SecretRevealed = EventOf<Events, 'SecretRevealed'>
export type SecretBurned = EventOf<Events, 'SecretBurned'>
export type SecretExpired = EventOf<Events, 'SecretExpired'>
export type MailSent = EventOf<Events, 'MailSent'>
export type MailRefused = EventOf<Events, 'MailRefused'>

/** A mail among those of its secret: the link to the first recipient is `link`, that to the second one `link-2`. */
export type MailName = MailKind | `link-${number}`

/** @param number of the recipient, from 0 */
export const linkName = (number: number): MailName => (number === 0 ? 'link' : `link-${number + 1}`)
export const kindOf = (name: MailName): MailKind => (name === 'notice' ? 'notice' : 'link')

export type Shared = SecretShared['data']

/** What became of a mail, by the part of its Message-ID before the @, which is its own whatever the sender's domain is. */
export type MailOnRecord = {
  readonly kind: MailKind
  readonly name: string
  readonly outcome: 'sent' | 'refused' | 'not sent'
}

/** The reason of a MailRefused whose mail was not handed to any server, since its secret had ended before. */
export const NOT_SENT = 'not sent: the secret had ended'

export const isOnRecord = ({ mails }: Pick<KnownSecret, 'mails'>, messageId: string): boolean =>
  mails.some(({ name }) => name === localPartOf(messageId))

const localPartOf = (messageId: string) => messageId.split('@', 1)[0] ?? messageId

export type Secret = { readonly status: 'unknown' } | KnownSecret
export type KnownSecret = Shared & {
  readonly tries: readonly number[]
  /** Passphrases tried in all that have not opened it, one that is being tried included. */
  readonly failedTries: number
  /** Nobody may try a passphrase before this time. */
  readonly lockedUntil: number
  readonly mails: readonly MailOnRecord[]
  /** When the secret was shared, or ended. */
  readonly changedAt: number
  readonly status: 'new' | 'received' | 'burned' | 'expired'
}

/** Wrong passphrases in this window lock a secret, for so long. */
const TRIES = 5
const TRIES_WINDOW = 10 * 60_000
const LOCK = 30 * 60_000
/** So many in all end it. */
export const TRIES_IN_LIFE = 20

export const expiresAt = ({ at, ttl }: Pick<Shared, 'at' | 'ttl'>): number => at + ttl * 1000
/** What is told about a secret outlives it: twice its ttl. */
export const forgottenAt = ({ at, ttl }: Pick<Shared, 'at' | 'ttl'>): number => at + 2 * ttl * 1000

export const secretDecider: Decider<Secret, SecretEvent> = { initialState: { status: 'unknown' }, evolve }

/** Total: an event this version does not know leaves the state as it was. */
function evolve(secret: Secret, event: SecretEvent): Secret {
  if (event.type === 'SecretShared') return born(event.data)
  if (secret.status === 'unknown') return secret
  switch (event.type) {
    case 'PassphraseTried':
      return tried(secret, event.data.at)
    case 'SecretRevealed':
      return ended(opened(secret), 'received', event.data.at)
    case 'SecretBurned':
      return ended(secret, 'burned', event.data.at)
    case 'SecretExpired':
      return ended(secret, 'expired', event.data.at)
    case 'MailSent':
    case 'MailRefused':
      return { ...secret, mails: [...secret.mails, onRecord(event)] }
    default:
      return secret
  }
}

/** Member by member: V8 takes some 10 us to spread an object and add to it, and every secret is born three times. */
const born = ({ owner, token, kind, at, ttl, passphrase, recipient, notify }: Shared): KnownSecret => ({
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
function tried(secret: KnownSecret, at: number): KnownSecret {
  const tries = [...secret.tries.filter((earlier) => earlier > at - TRIES_WINDOW), at]
  const failedTries = secret.failedTries + 1
  if (tries.length < TRIES) return { ...secret, tries, failedTries }
  return { ...secret, tries: [], failedTries, lockedUntil: at + LOCK }
}

/** The last try has opened it. */
const opened = (secret: KnownSecret): KnownSecret =>
  secret.passphrase ? { ...secret, failedTries: Math.max(0, secret.failedTries - 1) } : secret

const onRecord = ({ data }: MailSent | MailRefused): MailOnRecord => ({
  kind: data.mail,
  name: localPartOf(data.messageId),
  outcome: 'reason' in data ? (data.reason === NOT_SENT ? 'not sent' : 'refused') : 'sent',
})

function ended(secret: KnownSecret, status: 'received' | 'burned' | 'expired', at: number): KnownSecret {
  return secret.status === 'new' ? { ...secret, status, changedAt: at } : secret
}

/** The answer to everything that is not there, or not there any more: it does not tell which. */
export const unknownSecretRefusal = () => new Refusal('missing', 'Unknown secret')

/** @throws Refusal conflict for a stream that is another secret's already */
export function share(secret: Secret, shared: SecretShared): SecretShared[] {
  if (secret.status !== 'unknown') throw new Refusal('conflict', 'There is a secret of this key already')
  return [shared]
}

/** Decides that this reader gets the value. The append's expected revision decides which reader that is. */
export function reveal(secret: Secret, now: number): SecretRevealed[] {
  waiting(secret, now)
  return [{ type: 'SecretRevealed', data: { at: now } }]
}

export function burn(secret: Secret, now: number, by: BurnedBy): SecretBurned[] {
  waiting(secret, now)
  return [{ type: 'SecretBurned', data: { at: now, by } }]
}

/**
 * A try counts before it is made, so that parallel ones get no further than ones in a row. Where a secret has had all the
 * tries of its life, and whoever made the last one has died before its end was on record, it ends now.
 * @throws Refusal missing, too-many while the secret is locked
 */
export function tryPassphrase(secret: Secret, now: number, purpose: 'reveal' | 'burn'): SecretEvent[] {
  const known = waiting(secret, now)
  if (known.failedTries >= TRIES_IN_LIFE && now >= known.lockedUntil) return burn(known, now, 'guesses')
  refuseLocked(known, now)
  return [{ type: 'PassphraseTried', data: { at: now, for: purpose } }]
}

/** Behind a wrong passphrase: the last one that a secret may have ends it. */
export function endGuessed(secret: Secret, now: number): SecretBurned[] {
  if (secret.status !== 'new' || secret.failedTries < TRIES_IN_LIFE) return []
  return [{ type: 'SecretBurned', data: { at: now, by: 'guesses' } }]
}

/** Nothing when it has ended already, or has not expired yet. */
export function expire(secret: Secret, now: number): SecretExpired[] {
  if (secret.status !== 'new' || now < expiresAt(secret)) return []
  return [{ type: 'SecretExpired', data: { at: expiresAt(secret) } }]
}

export type MailOutcome = { readonly mail: MailKind; readonly messageId: string; readonly refused?: string }

/** Nothing when the outcome of this mail is on record. */
export function recordMail(secret: Secret, now: number, outcome: MailOutcome): (MailSent | MailRefused)[] {
  const { mail, messageId, refused } = outcome
  if (secret.status === 'unknown' || isOnRecord(secret, messageId)) return []
  if (refused === undefined) return [{ type: 'MailSent', data: { mail, messageId, at: now } }]
  return [{ type: 'MailRefused', data: { mail, messageId, reason: refused, at: now } }]
}

/**
 * A secret that can still be read.
 * @throws Refusal missing
 */
export function waiting(secret: Secret, now: number): KnownSecret {
  if (secret.status !== 'new' || now >= expiresAt(secret)) throw unknownSecretRefusal()
  return secret
}

/**
 * A secret of which it is still told what became of it.
 * @throws Refusal missing
 */
export function remembered(secret: Secret, now: number): KnownSecret {
  if (secret.status === 'unknown' || now >= forgottenAt(secret)) throw unknownSecretRefusal()
  return secret
}

/** @throws Refusal too-many, to everyone and whatever they send */
export function refuseLocked(secret: KnownSecret, now: number): void {
  if (now >= secret.lockedUntil) return
  const seconds = Math.ceil((secret.lockedUntil - now) / 1000)
  throw new Refusal('too-many', `Too many wrong passphrases; try again in ${seconds} seconds`, seconds)
}
