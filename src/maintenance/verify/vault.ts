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

/** Milliseconds after which something without a secret is no share that is under way. */
const ORPHAN_AGE_MS = 11 * 60_000

const ENDING_EVENT_TYPES: ReadonlySet<string> = new Set(['SecretRevealed', 'SecretBurned', 'SecretExpired'])

/** The secrets that wait for their reader, as the log is gone through, by digest: when each one's time is over. */
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
  readonly waiting: PendingSecrets
  readonly found: Differences
}

/**
 * Holds the vault to the log: each secret that waits has its value there, and nothing is left of one that has ended, as far as
 * endings have been followed. A value is put there before its secret is on record, and deleted after its end is.
 * @returns how many things are in the vault
 */
export async function checkVault({ store, vault, waiting, found }: VaultVerification): Promise<number> {
  const followed = await readVaultPosition(store, vault)
  const here = new Set<string>()
  let items = 0
  for await (const item of vault.contents()) {
    items++
    if (item.kind === 'entry') here.add(item.digest)
    const what = waiting.expiryByDigest.has(item.digest) ? undefined : await findSurplusReason(store, item, followed)
    if (what !== undefined) found.add({ where: secretStream(item.digest), what, do: SURPLUS_REMEDY })
  }
  for (const [digest, until] of waiting.expiryByDigest) {
    if (here.has(digest) || until < Date.now()) continue
    const events = await store.read(secretStream(digest))
    if (findEnding(events) !== undefined) continue
    found.add({
      where: `${secretStream(digest)}@0`,
      what: 'waits for its reader, and its value is not in the vault',
      do: LOST_SECRET_REMEDY,
    })
  }
  return items
}

const SURPLUS_REMEDY = 'start the service, which clears it away; where that runs, its log says what keeps it from that'
const LOST_SECRET_REMEDY =
  'nobody can read it any more: put the vault back that belongs to this log, or have its sender share it again'

/** Up to where the endings on record have been carried out in the vault. */
async function readVaultPosition(store: EventStore, vault: Vault): Promise<PositionOrStart> {
  const checkpoint = await vault.checkpoint()
  return checkpoint !== undefined && (await isCheckpointOfLog(store, checkpoint)) ? checkpoint.position : 'start'
}

/** Why something has no right to be there; undefined where it has. */
async function findSurplusReason(
  store: EventStore,
  item: VaultItem,
  followed: PositionOrStart,
): Promise<string | undefined> {
  // A receipt outlives its secret, so that the sender still finds it in a list; a notice is mailed behind the end.
  if (item.kind === 'receipt' || (item.kind === 'mail' && item.mail === 'notice')) return undefined
  const thing = item.kind === 'entry' ? 'its value' : 'a mail of it'
  const events = await store.read(secretStream(item.digest))
  if (events.length === 0) {
    return item.createdAt < Date.now() - ORPHAN_AGE_MS
      ? `${thing} is in the vault, and the log knows no such secret`
      : undefined
  }
  const ending = findEnding(events)
  if (ending === undefined || comparePositions(ending.position, followed) > 0) return undefined
  return `${thing} is still in the vault, and its end is on record (${ending.type}, revision ${ending.revision})`
}

const findEnding = (events: readonly StoredEvent[]) => events.find(({ type }) => ENDING_EVENT_TYPES.has(type))
