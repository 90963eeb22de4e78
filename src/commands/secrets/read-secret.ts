import { accountDecider } from '../../domain/account/account.ts'
import { digestOfSecretKey, keysOfMetadataKey, type SecretKeys } from '../../credentials/secret-keys.ts'
import {
  refuseLocked,
  remembered,
  unknownSecretRefusal,
  waiting,
  type KnownSecret,
} from '../../domain/secret/secret.ts'
import { loadSecret, sealedOf, type Secrets } from './secrets.ts'
import { accountStream } from '../accounts/accounts.ts'
import { load } from '../core/load.ts'

/**
 * A secret that can be read now, by who has its key; changes nothing.
 * @throws Refusal missing, too-many while it is locked
 */
export async function previewSecret(
  { store, vault, clock }: Pick<Secrets, 'store' | 'vault' | 'clock'>,
  secretKey: string,
): Promise<KnownSecret> {
  const digest = digestOfSecretKey(secretKey)
  if (digest === undefined) throw unknownSecretRefusal()
  await sealedOf({ store, vault, clock }, digest)
  const now = clock()
  const secret = waiting(await loadSecret(store, digest), now)
  refuseLocked(secret, now)
  return secret
}

type Reading = Pick<Secrets, 'store' | 'clock'>

/**
 * What its sender may know of a secret; changes nothing.
 * @throws Refusal missing
 */
export async function readReceipt(
  { store, clock }: Reading,
  metadataKey: string,
): Promise<{ readonly keys: SecretKeys; readonly secret: KnownSecret }> {
  const keys = keysOfMetadataKey(metadataKey)
  if (keys === undefined) throw unknownSecretRefusal()
  return { keys, secret: remembered(await loadSecret(store, keys.digest), clock()) }
}

/** The address of a secret's owner as the API shows it. */
export async function custidOf(
  { store, people }: Pick<Secrets, 'store' | 'people'>,
  owner: number | null,
): Promise<string> {
  if (owner === null) return 'anon'
  const { state } = await load(store, accountStream(owner), accountDecider)
  return state.status === 'unknown' ? '' : people.shownAs(owner, state)
}
