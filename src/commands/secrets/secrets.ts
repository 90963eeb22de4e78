import { secretDecider, waiting, type Secret } from '../../domain/secret/secret.ts'
import { load } from '../core/load.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { MailSeal } from '../../credentials/mail-seal.ts'
import type { SecretBox } from '../../credentials/secret-box.ts'
import { secretStream } from '../../credentials/secret-keys.ts'
import { BytesMissing } from '../../stores/ports/files.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import type { Vault } from '../../stores/ports/vault.ts'

/** What commands on secrets work with. */
export type Secrets = Accounts & {
  readonly vault: Vault
  readonly box: SecretBox
  readonly mailSeal: MailSeal
}

/**
 * What the vault has of a secret that can be read. It is put there before the log says that there is one, and goes after the
 * log says that it has ended.
 * @throws Refusal missing, BytesMissing where the log has it waiting
 */
export async function sealedOf({ store, vault, clock }: Pick<Secrets, 'store' | 'vault' | 'clock'>, digest: string) {
  const sealed = await vault.read(digest)
  if (sealed !== undefined) return sealed
  waiting(await loadSecret(store, digest), clock())
  throw new BytesMissing(`The vault has nothing of the secret ${digest.slice(0, 16)}, which the log has waiting`)
}

export async function loadSecret(store: EventStore, digest: string): Promise<Secret> {
  return (await load(store, secretStream(digest), secretDecider)).state
}
