import { digestOfStream, secretStream } from '../../credentials/secret-keys.ts'
import { isCheckpointOfLog } from '../../projections/engine/checkpoint.ts'
import {
  comparePositions,
  type EventStore,
  type PositionOrStart,
  type StoredEvent,
} from '../../stores/ports/event-store.ts'
import type { Vault, VaultItem } from '../../stores/ports/vault.ts'
import type { Differences } from './differences.ts'

/** Age at which an item without a secret in the log can no longer belong to a share in progress. */
const ORPHAN_AGE_MS = 11 * 60_000

const ENDING_EVENT_TYPES: ReadonlySet<string> = new Set(['SecretRevealed', 'SecretBurned', 'SecretExpired'])

/** Collects the pending secrets while the log is read: expiry in milliseconds since 1970, by digest. */
export class PendingSecrets {
  readonly expiryByDigest = new Map<string, number>()

  apply({ type, stream, data }: StoredEvent): void {
    if (type === 'SecretShared')
      this.expiryByDigest.set(digestOfStream(stream), Number(data['at']) + Number(data['ttl']) * 1000)
    else if (ENDING_EVENT_TYPES.has(type)) this.expiryByDigest.delete(digestOfStream(stream))
  }
}

type VaultVerification = {
  readonly store: EventStore
  readonly vault: Vault
  readonly pendingSecrets: PendingSecrets
  readonly differences: Differences
}

/**
 * Compares the vault with the log: every pending secret has its content in the vault, and ended secrets have none, up to the position
 * that the vault has processed. The content is stored before the secret is in the log, and deleted after its end is in the log.
 * @returns the number of items in the vault
 */
export async function checkVault({ store, vault, pendingSecrets, differences }: VaultVerification): Promise<number> {
  const vaultPosition = await readVaultPosition(store, vault)
  const entryDigests = new Set<string>()
  let items = 0
  for await (const item of vault.contents()) {
    items++
    if (item.kind === 'entry') entryDigests.add(item.digest)
    const what = pendingSecrets.expiryByDigest.has(item.digest)
      ? undefined
      : await findSurplusReason(store, item, vaultPosition)
    if (what !== undefined) differences.add({ where: secretStream(item.digest), what, do: SURPLUS_REMEDY })
  }
  for (const [digest, expiresAt] of pendingSecrets.expiryByDigest) {
    if (entryDigests.has(digest) || expiresAt < Date.now()) continue
    const events = await store.readStream(secretStream(digest))
    if (findEnding(events) !== undefined) continue
    differences.add({
      where: `${secretStream(digest)}@0`,
      what: 'is pending, but its content is not in the vault',
      do: LOST_SECRET_REMEDY,
    })
  }
  return items
}

const SURPLUS_REMEDY = 'start the service, which deletes it; if it is running, see its log for the reason'
const LOST_SECRET_REMEDY =
  'the secret is lost: restore the vault that belongs to this log, or ask the sender to share it again'

/** The position up to which the vault has deleted ended secrets. */
async function readVaultPosition(store: EventStore, vault: Vault): Promise<PositionOrStart> {
  const checkpoint = await vault.checkpoint()
  return checkpoint !== undefined && (await isCheckpointOfLog(store, checkpoint)) ? checkpoint.position : 'start'
}

/** Why an item should not be in the vault; undefined if it should. */
async function findSurplusReason(
  store: EventStore,
  item: VaultItem,
  vaultPosition: PositionOrStart,
): Promise<string | undefined> {
  // A receipt outlives its secret, so that the sender can still list it; a notice is sent after the end of a secret.
  if (item.kind === 'receipt' || (item.kind === 'mail' && item.mail === 'notice')) return undefined
  const itemName = item.kind === 'entry' ? 'its content' : 'a mail about it'
  const events = await store.readStream(secretStream(item.digest))
  if (events.length === 0) {
    return item.createdAt < Date.now() - ORPHAN_AGE_MS
      ? `${itemName} is in the vault, but the log has no such secret`
      : undefined
  }
  const ending = findEnding(events)
  if (ending === undefined || comparePositions(ending.position, vaultPosition) > 0) return undefined
  return `${itemName} is still in the vault, although the secret has ended (${ending.type}, revision ${ending.revision})`
}

const findEnding = (events: readonly StoredEvent[]) => events.find(({ type }) => ENDING_EVENT_TYPES.has(type))
