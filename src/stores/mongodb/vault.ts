import type { Vault } from '../ports/vault.ts'
import type { Mongo } from './connection.ts'
import { identityIn } from './identities.ts'
import { vaultCalls } from './vault/collections.ts'
import { contentsIn } from './vault/contents.ts'
import { mailsIn } from './vault/mails.ts'
import { secretsIn } from './vault/secrets.ts'
import { sweepingIn } from './vault/sweeping.ts'

/**
 * The vault in MongoDB: entries, receipts, mails and their claims. Its data files and its oplog may hold what was
 * deleted for a while; that opens nothing without the secret's key (SECURITY.md).
 */
export function vaultIn(mongo: Mongo): Vault {
  const call = vaultCalls(mongo)
  return {
    identity: () => identityIn(mongo, 'vault'),
    ...secretsIn(call),
    ...mailsIn(call),
    ...sweepingIn(call),
    ...contentsIn(call),
    /** The server's files are the server's to clear. */
    shred: async () => true,
    close: async () => undefined,
  }
}
