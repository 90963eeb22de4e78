import { expiresAt, secretFold, wrongPassphrases, type Secret, type SecretEvent } from '../../domain/secret/secret.ts'
import { parseSecretKeyDigest, parseMetadataKey, secretStream } from '../../credentials/secret-keys.ts'
import { RequestError } from '../../domain/request-error.ts'
import { ActorResolver } from '../../projections/history/actor-resolver.ts'
import { formatTime } from '../../representations/json.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'
import { foldHistory, type AuditSubject, type AuditPresenter } from './subject.ts'

/** Presents the events of a one-time secret, without anything that could open it. */
export const secretPresenter: AuditPresenter<Secret, SecretEvent> = {
  ...secretFold,
  describeState: describeSecret,
  eventLabels: {
    SecretShared: 'shared',
    PassphraseTried: 'passphrase tried',
    SecretRevealed: 'revealed',
    SecretBurned: 'burned',
    SecretExpired: 'expired',
    MailSent: 'mail sent',
    MailRefused: 'mail refused',
  },
  detail: secretEventDetail,
}

function describeSecret(secret: Secret) {
  if (secret.status === 'unknown') return null
  const { status, kind, passphrase, recipient, notify, attempts, lockedUntil } = secret
  const isNew = status === 'new'
  return {
    status,
    kind,
    passphrase,
    recipients: recipient.length === 0 ? null : recipient.join(', '),
    ownerIsTold: notify,
    ends: formatTime(expiresAt(secret)),
    passphraseAttempts: attempts,
    // Until the secret ends, the last attempt may have been right.
    wrongPassphrases: isNew || !passphrase ? null : wrongPassphrases(secret),
    lockedUntil: isNew && lockedUntil > 0 ? formatTime(lockedUntil) : null,
  }
}

function secretEventDetail(event: SecretEvent, { metadata: { via } }: StoredEvent): string {
  switch (event.type) {
    case 'SecretShared':
      return `for ${event.data.ttl} s${event.data.token === null ? '' : `, with the API token ${event.data.token}`}`
    case 'PassphraseTried':
      return `to ${event.data.for} it`
    case 'SecretBurned':
      // The only command that burns secrets is `forget`.
      return via === 'cli' ? 'because its owner was forgotten' : BURNED[event.data.by]
    case 'MailSent':
      return `${event.data.mail} ${event.data.messageId}`
    case 'MailRefused':
      return `${event.data.mail} ${event.data.messageId}: ${event.data.reason}`
    default:
      return ''
  }
}

const BURNED = {
  owner: 'by its owner',
  key: 'by a holder of its key',
  guesses: 'after too many wrong passphrases',
} as const

/** `audit secret ID`. */
export const auditSecret: AuditSubject = {
  name: 'secret',
  description: 'Show the history of a one-time secret, without its content',
  idDescription: 'Digest in the name of its stream, or one of its keys',
  example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  async loadHistory({ store, people }, id) {
    for (const digest of candidateDigestsOf(id)) {
      const events: readonly StoredEvent[] = await store.readStream(secretStream(digest))
      if (events.length > 0) return foldHistory(events, secretPresenter, new ActorResolver(store, people))
    }
    // Does not quote the id, which may be a key.
    throw new RequestError(
      'missing',
      'No such secret; the id must be the digest in the name of its stream, or one of its keys',
    )
  },
}

/** Digests that an id may stand for: a key may be a metadata key or a secret key. */
function candidateDigestsOf(id: string): string[] {
  const digest = id.replace(/^secret-/, '')
  if (/^[0-9a-f]{64}$/.test(digest)) return [digest]
  return [parseMetadataKey(id)?.digest, parseSecretKeyDigest(id)].filter((found) => found !== undefined)
}
