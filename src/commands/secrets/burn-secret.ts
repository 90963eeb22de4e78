import { burn, secretDecider, unknownSecretRefusal, waiting, type KnownSecret } from '../../domain/secret/secret.ts'
import { keysOfMetadataKey, secretStream, type SecretKeys } from '../../credentials/secret-keys.ts'
import { handle } from '../core/handle.ts'
import type { Origin } from '../../events/origin.ts'
import { openWithPassphrase } from './reveal-secret.ts'
import { loadSecret, sealedOf, type Secrets } from './secrets.ts'

export type BurnSecret = {
  readonly metadataKey: string
  /** Empty for none. */
  readonly passphrase: string
  /** The account whose credentials came with the request. */
  readonly account: number | undefined
  /** Where the request comes from. */
  readonly address?: string
  readonly origin: Origin
}

export type BurnedSecret = { readonly keys: SecretKeys; readonly secret: KnownSecret }

/**
 * Ends a secret that nobody has read. Its owner needs no passphrase; who only has the key needs the one it was shared
 * with, and a wrong one counts.
 * @throws Refusal missing for everything that can't be burned, too-many; OutcomeUnknown, StoreUnavailable
 */
export async function burnSecret(secrets: Secrets, wish: BurnSecret): Promise<BurnedSecret> {
  const keys = keysOfMetadataKey(wish.metadataKey)
  if (keys === undefined) throw unknownSecretRefusal()
  const secret = waiting(await loadSecret(secrets.store, keys.digest), secrets.clock())
  const by = wish.account !== undefined && wish.account === secret.owner ? 'owner' : 'key'
  if (secret.passphrase && by === 'key') await checkPassphrase(secrets, keys, wish)
  const stream = { stream: secretStream(keys.digest), origin: wish.origin }
  const { state } = await handle(secrets, stream, secretDecider, (known, now) => burn(known, now, by))
  if (state.status === 'unknown') throw unknownSecretRefusal()
  return { keys, secret: state }
}

/** @throws Refusal missing for a wrong passphrase */
async function checkPassphrase(secrets: Secrets, keys: SecretKeys, wish: BurnSecret): Promise<void> {
  const sealed = await sealedOf(secrets, keys.digest)
  const inner = secrets.box.outerOpened(sealed, keys.digest)
  const value = await openWithPassphrase(secrets, keys, inner, { ...wish, purpose: 'burn' })
  if (value === undefined) throw unknownSecretRefusal()
}
