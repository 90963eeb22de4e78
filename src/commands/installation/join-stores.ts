import { randomUUID } from 'node:crypto'
import {
  belongsWith,
  hasLostVault,
  STORES_STREAM,
  type Joined,
  type StoresJoined,
} from '../../domain/installation/joining.ts'
import { StoreUnavailable, WrongRevision, type EventStore, type StoredEvent } from '../../stores/ports/event-store.ts'
import { decode } from '../../events/decode.ts'
import type { Origin } from '../../events/origin.ts'
import { stamp } from '../core/stamp.ts'

export type Joining = { readonly store: EventStore; readonly clock: () => number; readonly origin: Origin }

/** Vault or files at hand are another installation's: what the log has would be missing, and what is shared lost to others. */
export class StrangeStores extends StoreUnavailable {
  override readonly name = 'StrangeStores'
}

/**
 * Holds that these vault and files are the log's; the first ever become it.
 * @returns `vault lost` where the vault is a new one beside the log's own files: it was lost, and is the log's from now on
 * @throws StrangeStores, StoreUnavailable
 */
export async function checkJoined(joining: Joining, found: Joined): Promise<'as known' | 'vault lost'> {
  const last = await newest(joining.store)
  if (last === undefined) {
    // A log that was left takes nothing any more: it is only read.
    if ((await joining.store.closed()) !== undefined || (await keep(joining, undefined, found))) return 'as known'
    return checkJoined(joining, found)
  }
  const known = decode<StoresJoined>(last).data
  if (belongsWith(known, found)) return 'as known'
  if (!hasLostVault(known, found)) throw strange(known, found)
  if ((await joining.store.closed()) !== undefined || (await keep(joining, last, found))) return 'vault lost'
  return checkJoined(joining, found)
}

/** From here on these are the log's, whatever were: after a restore, or a move. */
export async function joinStores(joining: Joining, found: Joined): Promise<void> {
  const last = await newest(joining.store)
  if (last !== undefined && belongsWith(decode<StoresJoined>(last).data, found)) return
  if (!(await keep(joining, last, found))) await joinStores(joining, found)
}

const newest = async (store: EventStore) => (await store.read(STORES_STREAM, { last: 1 })).at(-1)

/** @returns false when another process was first */
async function keep({ store, clock, origin }: Joining, last: StoredEvent | undefined, data: Joined): Promise<boolean> {
  const event = stamp(origin, clock())(randomUUID(), { type: 'StoresJoined', data })
  try {
    await store.append(STORES_STREAM, last?.revision ?? 'none', [event])
    return true
  } catch (error) {
    if (error instanceof WrongRevision) return false
    throw error
  }
}

const strange = (known: Joined, found: Joined) =>
  new StrangeStores(
    `The log's vault and files are in ${known.place} (${shortOf(known)}), and DATA_DIR and READ_MODEL name ${found.place} ` +
      `(${shortOf(found)}): set them to the former, or run \`npx adamant restore --in-place\` if that is lost`,
  )

const shortOf = ({ vault, files }: Joined) => `vault ${vault.slice(0, 8)}, files ${files.slice(0, 8)}`
