import {
  belongsWith,
  hasLostVault,
  joinedDecider,
  STORES_STREAM,
  type Joined,
  type StoresJoined,
} from '../../domain/installation/installation.ts'
import { StoreUnavailable, type EventStore } from '../../stores/ports/event-store.ts'
import type { Origin } from '../../events/origin.ts'
import { handle, writingTo } from '../core/handle.ts'

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
  // A log that was left takes nothing any more: it is only read.
  const isClosed = (await joining.store.closed()) !== undefined
  let isVaultLost = false
  await keep(joining, found, (known) => {
    isVaultLost = known !== undefined && hasLostVault(known, found)
    if (known !== undefined && !isVaultLost) throw strange(known, found)
    return !isClosed
  })
  return isVaultLost ? 'vault lost' : 'as known'
}

/** From here on these are the log's, whatever were: after a restore, or a move. */
export const joinStores = (joining: Joining, found: Joined): Promise<unknown> => keep(joining, found, () => true)

/** @param isWanted called where the log has others, or none */
const keep = (
  { store, clock, origin }: Joining,
  found: Joined,
  isWanted: (known: Joined | undefined) => boolean,
): Promise<unknown> => {
  const joined: StoresJoined = { type: 'StoresJoined', data: found }
  return handle(writingTo(store, clock), { stream: STORES_STREAM, origin }, joinedDecider, (known) => {
    const isKnown = known !== undefined && belongsWith(known, found)
    return isKnown || !isWanted(known) ? [] : [joined]
  })
}

const strange = (known: Joined, found: Joined) =>
  new StrangeStores(
    `The log's vault and files are in ${known.place} (${shortOf(known)}), and DATA_DIR and READ_MODEL name ${found.place} ` +
      `(${shortOf(found)}): set them to the former, or run \`npx adamant restore --in-place\` if that is lost`,
  )

const shortOf = ({ vault, files }: Joined) => `vault ${vault.slice(0, 8)}, files ${files.slice(0, 8)}`
