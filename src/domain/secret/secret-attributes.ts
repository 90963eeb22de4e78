import { expiresAt, metadataExpiresAt, wrongPassphrases, type KnownSecret } from './secret.ts'

/** A caller that presents one key gets the other one too, if it can be derived; null if it is unknown. */
type SecretKeyPair = { readonly metadataKey: string | null; readonly secretKey: string | null }

export type SecretState = 'new' | 'received' | 'burned' | 'expired'

/** The attributes that the API shows, in the order of the original API. Times in seconds since 1970, lifetimes in seconds. */
export type SecretAttributes = Readonly<Record<string, unknown>>

/** The state at a time. A secret is expired as soon as its ttl ends, even before SecretExpired is recorded. */
export const stateAt = (secret: KnownSecret, now: number): SecretState =>
  secret.status === 'new' && now >= expiresAt(secret) ? 'expired' : secret.status

/**
 * @param custid the owner's address, `anon` without an account
 * @param now milliseconds since 1970
 */
export function toSecretAttributes(
  secret: KnownSecret,
  custid: string,
  keys: SecretKeyPair,
  now: number,
): SecretAttributes {
  const state = stateAt(secret, now)
  const changedAt = state === 'expired' ? expiresAt(secret) : secret.changedAt
  return {
    custid,
    metadata_key: keys.metadataKey,
    ...shownSecretKey(state, keys.secretKey),
    ttl: secret.ttl,
    metadata_ttl: secondsLeft(metadataExpiresAt(secret), now),
    ...(state === 'new' && { secret_ttl: secondsLeft(expiresAt(secret), now) }),
    ...((state === 'burned' || state === 'expired') && { secret_ttl: null }),
    state,
    updated: seconds(changedAt),
    created: seconds(secret.at),
    ...(state === 'received' && { received: seconds(secret.changedAt) }),
    recipient: [...secret.recipient],
    ...shownMailStatus(secret, state),
    share_domain: '',
    ...(state === 'new' && { passphrase_required: secret.passphrase }),
    ...(secret.passphrase && { failed_attempts: wrongPassphrases(secret) }),
  }
}

export type MailStatus = 'sent' | 'waiting' | 'refused'

/**
 * The status of the mails with the link: `refused` if a mail server refused one, `waiting` until every outcome is recorded.
 * undefined without recipients, and if the secret ended before all mails were sent.
 */
export function mailStatus({ mails, recipient }: KnownSecret, state: SecretState): MailStatus | undefined {
  const links = mails.filter(({ kind }) => kind === 'link')
  if (links.some(({ outcome }) => outcome === 'refused')) return 'refused'
  if (links.filter(({ outcome }) => outcome === 'sent').length >= recipient.length)
    return recipient.length === 0 ? undefined : 'sent'
  return state === 'new' ? 'waiting' : undefined
}

function shownMailStatus(secret: KnownSecret, state: SecretState): { mail_status?: MailStatus } {
  const status = mailStatus(secret, state)
  return status === undefined ? {} : { mail_status: status }
}

function shownSecretKey(state: SecretState, key: string | null): { secret_key?: string | null } {
  if (key === null) return { secret_key: null }
  if (state === 'new') return { secret_key: key }
  return state === 'burned' ? { secret_key: '' } : {}
}

const seconds = (ms: number) => Math.floor(ms / 1000)
const secondsLeft = (end: number, now: number) => Math.max(0, Math.ceil((end - now) / 1000))
