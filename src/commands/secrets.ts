import { load, type Fold, type Writing } from './handle.ts'
import type { Letters } from '../credentials/letters.ts'
import type { SecretBox } from '../credentials/secret-box.ts'
import { secretStream } from '../credentials/secret-keys.ts'
import { evolveSecret, unknownSecret, type Secret, type SecretEvent } from '../domain/secret/secret.ts'
import type { EventStore } from '../stores/event-store.ts'
import type { Vault } from '../stores/vault.ts'

export const secretFold: Fold<Secret, SecretEvent> = { initial: unknownSecret, evolve: evolveSecret }

/** What commands on secrets work with. */
export type Secrets = Writing & {
  readonly vault: Vault
  readonly box: SecretBox
  readonly letters: Letters
}

export async function loadSecret(store: EventStore, digest: string): Promise<Secret> {
  return (await load(store, secretStream(digest), secretFold)).state
}
