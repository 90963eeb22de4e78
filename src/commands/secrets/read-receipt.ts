import { keysOfMetadataKey, type SecretKeys } from '../../credentials/secret-keys.ts'
import { remembered, unknownSecretRefusal } from '../../domain/secret/decide.ts'
import type { KnownSecret } from '../../domain/secret/secret.ts'
import { accountFold, accountStream } from '../accounts/logins.ts'
import { load } from '../core/load.ts'
import { loadSecret, type Secrets } from './secrets.ts'

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
export async function custidOf({ store }: Pick<Reading, 'store'>, owner: number | null): Promise<string> {
  if (owner === null) return 'anon'
  const { state } = await load(store, accountStream(owner), accountFold)
  return state.status === 'unknown' ? '' : state.email
}
