import {
  expiresAt,
  metadataExpiresAt,
  linkName,
  secretFold,
  share,
  type Secret,
  type SecretShared,
  type SecretSharedData,
} from '../../domain/secret/secret.ts'
import { sealReceipt } from '../../credentials/sealing.ts'
import { newSecretKeys, secretStream, type SecretKeys } from '../../credentials/secret-keys.ts'
import { obfuscateEmail } from '../../domain/secret/email-address.ts'
import { OutcomeUnknown } from '../../stores/ports/event-store.ts'
import type { NewMail, VaultEntry } from '../../stores/ports/vault.ts'
import { handle } from '../core/handle.ts'
import type { Origin } from '../../events/event-metadata.ts'
import type { SecretCommandContext } from './secrets.ts'

/** `apiToken` is the token's id. `token` is the token itself, which is needed to open the receipt. */
type SecretSender = {
  readonly account: number
  readonly email: string
  readonly apiToken: string
  readonly token: string
}

/** All fields are validated already, by src/domain/secret/secret.ts and email-address.ts. */
export type ShareSecret = {
  readonly value: string
  readonly kind: SecretSharedData['kind']
  /** Empty for none. */
  readonly passphrase: string
  /** Seconds, after applying limits. */
  readonly ttl: number
  readonly recipients: readonly string[]
  readonly notify: boolean
  readonly sender: SecretSender | undefined
  readonly address?: string
  readonly origin: Origin
}

type SharedSecret = { readonly keys: SecretKeys; readonly secret: Secret }

/**
 * Stores a value that can be revealed once. The vault entry is written before the event is appended; the sweeper
 * deletes entries whose event was never appended.
 * @throws RequestError 'too-many' if too many passphrases wait for key derivation; StoreUnavailable, OutcomeUnknown
 */
export async function shareSecret(secrets: SecretCommandContext, command: ShareSecret): Promise<SharedSecret> {
  const keys = newSecretKeys()
  const sealed = await secrets.box.seal(command.value, keys, command.passphrase, {
    account: command.sender?.account,
    address: command.address,
  })
  const event = sharedEvent(command, secrets.clock())
  await secrets.vault.put(entryOf(command, keys, event.data, sealed), mailsOf(secrets, command, keys, event.data))
  await append(secrets, command, keys, event)
  return { keys, secret: secretFold.evolve(secretFold.initialState, event) }
}

function sharedEvent({ sender, kind, ttl, passphrase, recipients, notify }: ShareSecret, at: number): SecretShared {
  return {
    type: 'SecretShared',
    data: {
      owner: sender?.account ?? null,
      token: sender?.apiToken ?? null,
      kind,
      at,
      ttl,
      passphrase: passphrase !== '',
      recipient: recipients.map(obfuscateEmail),
      notify,
    },
  }
}

function entryOf({ sender }: ShareSecret, keys: SecretKeys, shared: SecretSharedData, sealed: Buffer): VaultEntry {
  const { digest, metadataKey } = keys
  const receipt = sender && {
    token: sender.apiToken,
    sealed: sealReceipt(sender.token, metadataKey, digest),
    forgottenAt: metadataExpiresAt(shared),
  }
  return { digest, sealed, createdAt: shared.at, expiresAt: expiresAt(shared), receipt: receipt ?? null }
}

function mailsOf(
  { mailSeal }: SecretCommandContext,
  command: ShareSecret,
  { digest, secretKey }: SecretKeys,
  { at }: SecretSharedData,
): NewMail[] {
  const mails: NewMail[] = command.recipients.map((recipient, number) => {
    const kind = linkName(number)
    return { kind, sealed: mailSeal.seal({ to: recipient, secretKey }, `${digest}/${kind}`), dueAt: at }
  })
  if (command.notify && command.sender !== undefined) {
    const sealed = mailSeal.seal({ to: command.sender.email }, `${digest}/notice`)
    mails.push({ kind: 'notice', sealed, dueAt: null })
  }
  return mails
}

/** The stream's name is random, so it is new and need not be read. */
async function append(
  secrets: SecretCommandContext,
  command: ShareSecret,
  { digest }: SecretKeys,
  event: SecretShared,
): Promise<void> {
  try {
    const target = { stream: secretStream(digest), isNew: true, origin: command.origin }
    await handle(secrets, target, secretFold, (secret) => share(secret, event))
  } catch (error) {
    // After an unknown outcome the event may still arrive, so the vault entry must stay. If deleting it fails, the
    // sweeper does it later.
    if (!(error instanceof OutcomeUnknown)) await secrets.vault.end([{ digest }]).catch(() => undefined)
    throw error
  }
}
