import type { MasterKeys } from '../../credentials/master-keys.ts'
import { MasterSeal, SealedByAnotherKey, type MailSeal } from '../../credentials/sealing.ts'
import type { InnerSealedValue, SecretBox } from '../../credentials/secret-box.ts'
import { parseSecretKeyDigest, parseMetadataKey, secretStream, type SecretKeys } from '../../credentials/secret-keys.ts'
import { accountFold, accountStream } from '../../domain/account/account.ts'
import {
  burn,
  burnAfterMaxAttempts,
  expire,
  isPossiblePassphrase,
  recordMailOutcome as decide,
  requireUnlocked,
  requireUnexpiredMetadata,
  reveal,
  secretFold,
  MAX_TOTAL_ATTEMPTS,
  tryPassphrase,
  unknownSecretError,
  requirePending,
  type KnownSecret,
  type MailOutcome,
  type Secret,
} from '../../domain/secret/secret.ts'
import { loadStream } from '../../events/load-stream.ts'
import type { Origin } from '../../events/event-metadata.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import { BytesMissing } from '../../stores/ports/file-store.ts'
import type { SealedItem, Vault } from '../../stores/ports/vault.ts'
import type { AccountCommandContext } from '../accounts/accounts.ts'
import { handle } from '../core/handle.ts'

export type SecretCommandContext = AccountCommandContext & {
  readonly vault: Vault
  readonly box: SecretBox
  readonly mailSeal: MailSeal
}

/**
 * Reads the vault entry of a pending secret. It is stored before the secret's first event is appended and deleted after
 * its last one.
 * @throws RequestError 'missing'; BytesMissing if the secret is pending but the vault has no entry
 */
async function readSealedValue(
  { store, vault, clock }: Pick<SecretCommandContext, 'store' | 'vault' | 'clock'>,
  digest: string,
) {
  const sealed = await vault.readSecret(digest)
  if (sealed !== undefined) return sealed
  requirePending(await loadSecret(store, digest), clock())
  throw new BytesMissing(`The vault has no entry for the pending secret ${digest.slice(0, 16)}`)
}

export async function loadSecret(store: EventStore, digest: string): Promise<Secret> {
  return (await loadStream(store, secretStream(digest), secretFold)).state
}

/**
 * The state of a pending secret, for the holder of its key. Does not change it.
 * @throws RequestError 'missing', or 'too-many' while it is locked
 */
export async function previewSecret(
  { store, vault, clock }: Pick<SecretCommandContext, 'store' | 'vault' | 'clock'>,
  secretKey: string,
): Promise<KnownSecret> {
  const digest = parseSecretKeyDigest(secretKey)
  if (digest === undefined) throw unknownSecretError()
  await readSealedValue({ store, vault, clock }, digest)
  const now = clock()
  const secret = requirePending(await loadSecret(store, digest), now)
  requireUnlocked(secret, now)
  return secret
}

type ReceiptReadContext = Pick<SecretCommandContext, 'store' | 'clock'>

/**
 * The state of a secret, for its sender. Does not change it.
 * @throws RequestError 'missing'
 */
export async function readReceipt(
  { store, clock }: ReceiptReadContext,
  metadataKey: string,
): Promise<{ readonly keys: SecretKeys; readonly secret: KnownSecret }> {
  const keys = parseMetadataKey(metadataKey)
  if (keys === undefined) throw unknownSecretError()
  return { keys, secret: requireUnexpiredMetadata(await loadSecret(store, keys.digest), clock()) }
}

/** The owner's e-mail address as shown in the API; `anon` for secrets without an owner. */
export async function custidOf(
  { store, people }: Pick<SecretCommandContext, 'store' | 'people'>,
  owner: number | null,
): Promise<string> {
  if (owner === null) return 'anon'
  const { state } = await loadStream(store, accountStream(owner), accountFold)
  return state.status === 'unknown' ? '' : people.displayNameOf(owner, state)
}

type RevealSecret = {
  readonly secretKey: string
  /** Empty for none. */
  readonly passphrase: string
  readonly account?: number | undefined
  readonly address?: string
  readonly origin: Origin
}

type SecretReaderKeys = { readonly secretKey: string; readonly digest: string }

/**
 * Reveals a secret to exactly one reader: decrypts the value first, and returns it only if this call's SecretRevealed
 * event was stored. The command has no id, because two callers could share one.
 * @throws RequestError 'missing' for everything that can't be read, 'too-many'; OutcomeUnknown, StoreUnavailable
 */
export async function revealSecret(secrets: SecretCommandContext, command: RevealSecret): Promise<string> {
  const digest = parseSecretKeyDigest(command.secretKey)
  if (digest === undefined) throw unknownSecretError()
  const sealed = await readSealedValue(secrets, digest)
  const keys = { secretKey: command.secretKey, digest }
  const inner = secrets.box.openOuter(sealed, digest)
  const value =
    inner.passphrase === undefined
      ? secrets.box.open(inner, keys)
      : await openWithPassphrase(secrets, keys, inner, { ...command, purpose: 'reveal' })
  if (value === undefined) throw unknownSecretError()
  const stream = secretStream(digest)
  await handle(secrets, { stream, origin: command.origin }, secretFold, reveal)
  return value
}

type PassphraseAttempt = {
  readonly passphrase: string
  readonly account?: number | undefined
  readonly address?: string
  readonly purpose: 'reveal' | 'burn'
  readonly origin: Origin
}

/**
 * Returns undefined if the passphrase is wrong or missing. An attempt is recorded before it is made; a missing
 * passphrase does not count as one. Too many wrong attempts burn the secret.
 * @throws RequestError 'missing', 'too-many'
 */
async function openWithPassphrase(
  secrets: SecretCommandContext,
  keys: SecretReaderKeys,
  inner: InnerSealedValue,
  { passphrase, purpose, origin, account, address }: PassphraseAttempt,
): Promise<string | undefined> {
  if (passphrase === '') {
    const now = secrets.clock()
    requireUnlocked(requirePending(await loadSecret(secrets.store, keys.digest), now), now)
    return undefined
  }
  const slot = secrets.box.acquireSlot({ purpose: 'read', account, address })
  try {
    const target = { stream: secretStream(keys.digest), origin }
    const { state } = await handle(secrets, target, secretFold, (secret, now) => tryPassphrase(secret, now, purpose))
    if (state.status !== 'new') throw unknownSecretError()
    const value = isPossiblePassphrase(passphrase)
      ? await secrets.box.openWithPassphrase(slot, passphrase, inner, keys)
      : undefined
    if (value === undefined && state.attempts >= MAX_TOTAL_ATTEMPTS) {
      await handle(secrets, target, secretFold, burnAfterMaxAttempts)
    }
    return value
  } finally {
    slot.release()
  }
}

type BurnSecret = {
  readonly metadataKey: string
  /** Empty for none. */
  readonly passphrase: string
  readonly account: number | undefined
  readonly address?: string
  readonly origin: Origin
}

type BurnedSecret = { readonly keys: SecretKeys; readonly secret: KnownSecret }

/**
 * Burns a pending secret. Except for the owner it requires the secret's passphrase, and wrong attempts count.
 * @throws RequestError 'missing' for everything that can't be burned, 'too-many'; OutcomeUnknown, StoreUnavailable
 */
export async function burnSecret(secrets: SecretCommandContext, command: BurnSecret): Promise<BurnedSecret> {
  const keys = parseMetadataKey(command.metadataKey)
  if (keys === undefined) throw unknownSecretError()
  const secret = requirePending(await loadSecret(secrets.store, keys.digest), secrets.clock())
  const burnedBy = command.account !== undefined && command.account === secret.owner ? 'owner' : 'key'
  if (secret.passphrase && burnedBy === 'key') await checkPassphrase(secrets, keys, command)
  const target = { stream: secretStream(keys.digest), origin: command.origin }
  const { state } = await handle(secrets, target, secretFold, (current, now) => burn(current, now, burnedBy))
  if (state.status === 'unknown') throw unknownSecretError()
  return { keys, secret: state }
}

/** @throws RequestError 'missing' for a wrong passphrase */
async function checkPassphrase(secrets: SecretCommandContext, keys: SecretKeys, command: BurnSecret): Promise<void> {
  const sealed = await readSealedValue(secrets, keys.digest)
  const inner = secrets.box.openOuter(sealed, keys.digest)
  const value = await openWithPassphrase(secrets, keys, inner, { ...command, purpose: 'burn' })
  if (value === undefined) throw unknownSecretError()
}

/** Records that a secret has expired, once. @returns its resulting state */
export async function expireSecret(secrets: SecretCommandContext, digest: string): Promise<Secret> {
  const stream = secretStream(digest)
  const origin = { actor: 'sweeper', via: 'projection', correlation: `expiry-${digest.slice(0, 16)}` } as const
  const { state } = await handle(secrets, { stream, id: `${stream}/expired`, origin }, secretFold, expire)
  return state
}

/** Records the outcome of a mail, once. */
export async function recordMail(secrets: SecretCommandContext, digest: string, outcome: MailOutcome): Promise<void> {
  const stream = secretStream(digest)
  const origin = { actor: 'mailer', via: 'projection', correlation: `${outcome.mail}-${digest.slice(0, 16)}` } as const
  const target = { stream, id: `${stream}/${outcome.messageId}`, origin }
  await handle(secrets, target, secretFold, (secret, now) => decide(secret, now, outcome))
}

const BATCH_SIZE = 100

/**
 * Re-seals vault entries and mails after a rotation of the master key, so that the old key can be removed. Leaves
 * entries that neither key opens.
 * @returns `sealed`: number of re-sealed items; `shut`: number of items that could not be opened
 */
export async function resealVault(vault: Vault, keys: MasterKeys): Promise<{ sealed: number; shut: number }> {
  const counts = { sealed: 0, shut: 0 }
  const seals = { entry: new MasterSeal(keys, 'vault'), mail: new MasterSeal(keys, 'mail') }
  for (const kind of ['entry', 'mail'] as const) {
    let lastName = ''
    for (;;) {
      const items = await vault.findSealedByOtherKeys(kind, keys.current.id, lastName, BATCH_SIZE)
      for (const item of items) {
        const resealed = tryReseal(seals[kind], item)
        if (resealed === undefined) counts.shut++
        else {
          await vault.reseal(item, resealed)
          counts.sealed++
        }
        lastName = item.name
      }
      if (items.length < BATCH_SIZE) break
    }
  }
  return counts
}

function tryReseal(seal: MasterSeal, { sealed, name }: SealedItem): Buffer | undefined {
  try {
    return seal.seal(seal.open(sealed, name), name)
  } catch (error) {
    if (error instanceof SealedByAnotherKey) return undefined
    throw error
  }
}
