import { Refusal } from '../refusal.ts'
import {
  expiresAt,
  forgottenAt,
  isOnRecord,
  TRIES_IN_LIFE,
  type BurnedBy,
  type KnownSecret,
  type MailKind,
  type MailRefused,
  type MailSent,
  type Secret,
  type SecretBurned,
  type SecretEvent,
  type SecretExpired,
  type SecretRevealed,
} from './secret.ts'

/** The answer to everything that is not there, or not there any more: it does not tell which. */
export const unknownSecretRefusal = () => new Refusal('missing', 'Unknown secret')

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
