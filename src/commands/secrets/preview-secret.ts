import { digestOfSecretKey } from '../../credentials/secret-keys.ts'
import { refuseLocked, unknownSecretRefusal, waiting } from '../../domain/secret/decide.ts'
import type { KnownSecret } from '../../domain/secret/secret.ts'
import { loadSecret, sealedOf, type Secrets } from './secrets.ts'

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
