import { expire, secretDecider, type Secret } from '../../domain/secret/secret.ts'
import { secretStream } from '../../credentials/secret-keys.ts'
import { handle } from '../core/handle.ts'
import type { Secrets } from './secrets.ts'

/** Records that a secret's time is over, once, and tells how it ended. */
export async function expireSecret(secrets: Secrets, digest: string): Promise<Secret> {
  const stream = secretStream(digest)
  const origin = { actor: 'sweeper', via: 'projection', correlation: `expiry-${digest.slice(0, 16)}` } as const
  const { state } = await handle(secrets, { stream, id: `${stream}/expired`, origin }, secretDecider, expire)
  return state
}
