import { digestOf, randomToken } from '../../credentials/digests.ts'
import { rotateSecret } from '../../domain/client/client.ts'
import { changeClient } from './clients.ts'
import type { Writing } from '../core/handle.ts'
import type { Origin } from '../../events/origin.ts'
import type { ClientCredentials } from './register-client.ts'

/**
 * Gives a client a new secret; the old one is refused from now on, tokens live on.
 * @throws Refusal missing
 */
export async function rotateClientSecret(writing: Writing, client: string, origin: Origin): Promise<ClientCredentials> {
  const secret = randomToken()
  await changeClient(writing, client, origin, (state) => rotateSecret(state, { secret: digestOf(secret) }))
  return { client, secret }
}
