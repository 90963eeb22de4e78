/**
 * A secret that one reader may read once. What was shared is not here: events never carry a secret, a passphrase, a
 * key or a whole address. Times are milliseconds since 1970.
 */
export type SecretEvent =
  | SecretShared
  | { type: 'PassphraseTried'; data: { at: number; for: 'reveal' | 'burn' } }
  | SecretRevealed
  | SecretBurned
  | SecretExpired
  | MailSent
  | MailRefused

export type SecretShared = { type: 'SecretShared'; data: Shared }
export type SecretRevealed = { type: 'SecretRevealed'; data: { at: number } }
export type SecretBurned = { type: 'SecretBurned'; data: { at: number; by: 'owner' | 'key' } }
export type SecretExpired = { type: 'SecretExpired'; data: { at: number } }
export type MailSent = { type: 'MailSent'; data: { mail: MailKind; messageId: string; at: number } }
export type MailRefused = {
  type: 'MailRefused'
  data: { mail: MailKind; messageId: string; reason: string; at: number }
}

/** `link` takes the link to the recipient, `notice` tells the owner that the secret was read. */
export type MailKind = 'link' | 'notice'

export type Shared = {
  /** The account, null for an anonymous sender. */
  readonly owner: number | null
  /** The id of the API token that it was shared with, null for an anonymous sender. */
  readonly token: string | null
  readonly kind: 'shared' | 'generated'
  readonly at: number
  /** Seconds, as in force. */
  readonly ttl: number
  readonly passphrase: boolean
  /** Obfuscated, at most one. */
  readonly recipient: readonly string[]
  readonly notify: boolean
}

export type Secret = { readonly status: 'unknown' } | KnownSecret
export type KnownSecret = Shared & {
  readonly tries: readonly number[]
  /** Nobody may try a passphrase before this time. */
  readonly lockedUntil: number
  readonly mails: readonly MailKind[]
  /** When the secret was shared, or ended. */
  readonly changedAt: number
  readonly status: 'new' | 'received' | 'burned' | 'expired'
}

export const unknownSecret: Secret = { status: 'unknown' }

/** Wrong passphrases in this window lock a secret, for so long. */
export const TRIES = 5
export const TRIES_WINDOW = 10 * 60_000
export const LOCK = 30 * 60_000

export const expiresAt = ({ at, ttl }: Pick<Shared, 'at' | 'ttl'>): number => at + ttl * 1000
/** What is told about a secret outlives it: twice its ttl. */
export const forgottenAt = ({ at, ttl }: Pick<Shared, 'at' | 'ttl'>): number => at + 2 * ttl * 1000

/** Total: an event this version does not know leaves the state as it was. */
export function evolveSecret(secret: Secret, event: SecretEvent): Secret {
  if (event.type === 'SecretShared') return born(event.data)
  if (secret.status === 'unknown') return secret
  switch (event.type) {
    case 'PassphraseTried':
      return tried(secret, event.data.at)
    case 'SecretRevealed':
      return ended(secret, 'received', event.data.at)
    case 'SecretBurned':
      return ended(secret, 'burned', event.data.at)
    case 'SecretExpired':
      return ended(secret, 'expired', event.data.at)
    case 'MailSent':
    case 'MailRefused':
      return { ...secret, mails: [...secret.mails, event.data.mail] }
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
  lockedUntil: 0,
  mails: [],
  changedAt: at,
})

/** Every try counts until it has opened the secret, which then needs no lock. */
function tried(secret: KnownSecret, at: number): KnownSecret {
  const tries = [...secret.tries.filter((earlier) => earlier > at - TRIES_WINDOW), at]
  return tries.length < TRIES ? { ...secret, tries } : { ...secret, tries: [], lockedUntil: at + LOCK }
}

function ended(secret: KnownSecret, status: 'received' | 'burned' | 'expired', at: number): KnownSecret {
  return secret.status === 'new' ? { ...secret, status, changedAt: at } : secret
}
