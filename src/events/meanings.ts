import type { EventType } from './known-event.ts'

/** What an event means to people, and where it stands. */
export type Meaning = {
  /** The streams that it is appended to; what stands in braces differs from one to another. */
  readonly stream: string
  readonly about: string
  /** What each version after the first one changed, by its number. */
  readonly changes?: Readonly<Record<number, string>>
}

/** Every type of event in words, in the order in which the catalogue tells them: docs/events.md and `events --schema`. */
export const MEANINGS: Readonly<Record<EventType, Meaning>> = {
  DiamondCreated: { stream: 'diamond-{id}', about: 'An owner created a diamond.' },
  DiamondPatched: { stream: 'diamond-{id}', about: 'Its owner changed fields, or removed their values.' },
  DiamondDeleted: { stream: 'diamond-{id}', about: 'Its owner deleted it, with its certifications.' },
  CertificationAttached: { stream: 'diamond-{id}', about: "The owner attached a laboratory's report." },
  CertificationRemoved: { stream: 'diamond-{id}', about: 'The owner removed it.' },
  ReportRead: {
    stream: 'diamond-{id}',
    about: 'The service read the PDF of a report. It changes nothing that the owner said.',
    changes: {
      2: '`laboratory`, `shape` and `isLabGrown` are always there, null where nothing was found; version 1 lacked them where they were not looked for. `mismatches` is gone: it follows from the reading and the stone.',
      3: '`girdle`, `star` and `lower` are new, null where nothing was found; earlier versions did not look for them.',
      4: '`unclear` is new; earlier versions took one of several values.',
    },
  },
  StoneModelAttached: {
    stream: 'diamond-{id}',
    about: 'The owner attached a 3D file of the stone: its scores are traced from its own facets.',
  },
  StoneModelRemoved: { stream: 'diamond-{id}', about: 'It was removed, or another one took its place.' },
  DiamondScored: { stream: 'scores-{id}', about: 'The optical scores of a diamond were computed.' },
  LoginReserved: {
    stream: 'login-{digest}',
    about:
      'A log-in name belongs to an account from now on: the first one to reserve it has it. The stream is named by an HMAC of the normalised address, with a key of its own; of an account of a former release by its SHA-256.',
    changes: { 2: '`email` is gone: no event has an address any more.' },
  },
  LoginReleased: { stream: 'login-{digest}', about: 'Its account was forgotten: the log-in name is free.' },
  AccountRegistered: {
    stream: 'account-{id}',
    about: 'An account was registered. Its address lies beside the log, so that it can be forgotten.',
    changes: { 2: '`email` is gone: no event has an address any more.' },
  },
  PasswordChanged: { stream: 'account-{id}', about: 'It has a new password; its tokens ended.' },
  PlanChanged: { stream: 'account-{id}', about: 'It has another plan.' },
  AccountDisabled: { stream: 'account-{id}', about: 'Nobody can log in as it; its tokens ended.' },
  AccountEnabled: { stream: 'account-{id}', about: 'It can log in again; tokens that ended stay ended.' },
  AccountForgotten: {
    stream: 'account-{id}',
    about: 'The person behind it was forgotten: its address was deleted, and nobody can use it again.',
  },
  ApiTokenIssued: { stream: 'account-{id}', about: 'It got a token of the secrets API.' },
  ApiTokenUsed: {
    stream: 'apitoken-{account}-{token}',
    about: 'A token of the secrets API was used; written once an hour at most.',
  },
  ApiTokenRevoked: { stream: 'account-{id}', about: 'A token of the secrets API was ended.' },
  ClientRegistered: { stream: 'client-{id}', about: 'An OAuth client was registered.' },
  ClientSecretRotated: { stream: 'client-{id}', about: 'It has a new secret; the old one is refused, tokens live on.' },
  ClientDisabled: { stream: 'client-{id}', about: 'It gets no tokens any more; those it got ended.' },
  ClientEnabled: { stream: 'client-{id}', about: 'It gets tokens again; those that ended stay ended.' },
  SessionOpened: { stream: 'session-{id}', about: 'Somebody logged in by a client: a family of tokens began.' },
  TokenRefreshed: {
    stream: 'session-{id}',
    about:
      'A refresh token was exchanged for the next pair of tokens. The grant is repeated, so that long sessions are read from their newest events.',
  },
  RefreshReused: {
    stream: 'session-{id}',
    about: 'A refresh token that had been exchanged came again: somebody has a copy of it.',
  },
  SessionRevoked: { stream: 'session-{id}', about: 'The session ended, and all its tokens with it.' },
  AccessTokenRevoked: { stream: 'session-{id}', about: 'One access token of the session was ended.' },
  SecretShared: {
    stream: 'secret-{digest}',
    about: 'A one-time secret was shared. The secret itself is in the vault alone.',
  },
  PassphraseTried: {
    stream: 'secret-{digest}',
    about: 'Somebody tries a passphrase: it is written before the try, so that no two tries pass the limit at once.',
  },
  SecretRevealed: { stream: 'secret-{digest}', about: 'Its one reader got it.' },
  SecretBurned: {
    stream: 'secret-{digest}',
    about: 'It was deleted before anybody read it.',
    changes: { 2: '`by` may be `guesses`.' },
  },
  SecretExpired: { stream: 'secret-{digest}', about: 'Its time ran out before anybody read it.' },
  MailSent: { stream: 'secret-{digest}', about: 'A mail server took a mail about it.' },
  MailRefused: { stream: 'secret-{digest}', about: 'A mail server refused it for good.' },
  WebhookCreated: { stream: 'webhooks-{account}', about: "An account's changes are pushed to an address from now on." },
  WebhookChanged: { stream: 'webhooks-{account}', about: 'It has another address or description.' },
  WebhookSecretRotated: {
    stream: 'webhooks-{account}',
    about: 'It has a new secret; those before it sign for another day as well.',
  },
  WebhookSecretsResealed: { stream: 'webhooks-{account}', about: 'Its secrets are sealed by another master key.' },
  WebhookProgressed: {
    stream: 'webhooks-{account}',
    about: 'How far its deliveries have come; written once an hour at most, while something is delivered.',
  },
  WebhookFailing: { stream: 'webhooks-{account}', about: 'Nothing was taken for three days.' },
  WebhookRecovered: { stream: 'webhooks-{account}', about: 'A message was taken again.' },
  WebhookPaused: {
    stream: 'webhooks-{account}',
    about: 'Nothing is sent to it until its owner says so; the feed keeps it all.',
  },
  WebhookActivated: { stream: 'webhooks-{account}', about: 'It goes on where it was paused.' },
  WebhookDeleted: { stream: 'webhooks-{account}', about: 'It is gone.' },
  RequestAccepted: {
    stream: 'request-{digest}',
    about:
      'A bulk was accepted, and will be carried out whatever happens to the process: one event for each part of it.',
  },
  RequestDone: {
    stream: 'request-{digest}',
    about: 'What was asked for under an Idempotency-Key, or a bulk, was carried out.',
  },
  LogCreated: {
    stream: 'log',
    about: 'The log began. Its identity tells a checkpoint of this log from one of another.',
  },
  StoresJoined: { stream: 'stores', about: 'Vault and files of these identities belong to this log.' },
  LinkKeySealed: {
    stream: 'keys-link',
    about: 'The key that signs links was made, sealed again by another master key, or replaced by a new one.',
  },
  LogKeySealed: {
    stream: 'keys-log',
    about: "The key that signs the log's checkpoints was made, or sealed again by another master key.",
  },
  CheckpointSigned: {
    stream: 'checkpoints',
    about: "The root of the log's hash tree was signed: each is an extension of the one before.",
  },
  PersonKeySealed: {
    stream: 'keys-persons',
    about:
      'The key that names log-ins and seals addresses was made, or the same one was sealed again by another master key.',
  },
  IdsReserved: {
    stream: 'ids-{kind}',
    about: 'One process may give out these integer ids. Kinds: account, client, diamond, certification.',
  },
  RetryRequested: {
    stream: 'retries-{model}',
    about: 'An operator asked that streams which a read model had set aside be folded again.',
  },
  LogRestored: {
    stream: 'restores',
    about: 'The log was restored from a backup: tokens and links that were given out before are refused.',
  },
  LogFenced: { stream: 'log', about: 'The log takes no more writes: it was moved, and writes go to the other one.' },
  LogOpened: {
    stream: 'log',
    about: 'The log takes writes: it was filled completely, or a move that had closed it was given up.',
  },
  CopyBegun: {
    stream: 'copy',
    about: 'This log is being filled with the events of another one. It stands in the filled log alone.',
  },
  CopyDone: { stream: 'copy', about: 'It holds all of them, and they were compared.' },
  ReplayMade: {
    stream: 'copy',
    about: 'This log has the events of another one up to a moment, to be looked at: it never takes a write.',
  },
  CopyAbandoned: { stream: 'copy', about: 'The move was given up before it was complete: this log is of no use.' },
}

/** Whether this release has words for a type of event. */
export const isKnown = (type: string): type is EventType => Object.hasOwn(MEANINGS, type)

/** What stands before the first dash of a stream's name: what commands are on. */
export const SUBJECTS: readonly string[] = [...new Set(Object.values(MEANINGS).map(({ stream }) => subjectOf(stream)))]

export function subjectOf(stream: string): string {
  return stream.split('-', 1)[0] ?? stream
}
