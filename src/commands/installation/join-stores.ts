import {
  isSameInstallation,
  hasLostVault,
  storesDecider,
  STORES_STREAM,
  type StoreIdentities,
  type StoresJoined,
} from '../../domain/installation/installation.ts'
import { StoreUnavailable, type EventStore } from '../../stores/ports/event-store.ts'
import type { Origin } from '../../events/event-metadata.ts'
import { handle, createCommandContext } from '../core/handle.ts'

export type JoinStoresContext = { readonly store: EventStore; readonly clock: () => number; readonly origin: Origin }

/** Vault or files at hand are another installation's: what the log has would be missing, and what is shared lost to others. */
export class ForeignStores extends StoreUnavailable {
  override readonly name = 'StrangeStores'
}

/**
 * Holds that these vault and files are the log's; the first ever become it.
 * @returns `vault lost` where the vault is a new one beside the log's own files: it was lost, and is the log's from now on
 * @throws StrangeStores, StoreUnavailable
 */
export async function verifyJoinedStores(
  context: JoinStoresContext,
  found: StoreIdentities,
): Promise<'as known' | 'vault lost'> {
  // A log that was left takes nothing any more: it is only read.
  const isClosed = (await context.store.closedReason()) !== undefined
  let isVaultLost = false
  await appendStoresJoined(context, found, (known) => {
    isVaultLost = known !== undefined && hasLostVault(known, found)
    if (known !== undefined && !isVaultLost) throw foreignStoresError(known, found)
    return !isClosed
  })
  return isVaultLost ? 'vault lost' : 'as known'
}

/** From here on these are the log's, whatever were: after a restore, or a move. */
export const joinStores = (context: JoinStoresContext, found: StoreIdentities): Promise<unknown> =>
  appendStoresJoined(context, found, () => true)

/** @param isWanted called where the log has others, or none */
const appendStoresJoined = (
  { store, clock, origin }: JoinStoresContext,
  found: StoreIdentities,
  isWanted: (known: StoreIdentities | undefined) => boolean,
): Promise<unknown> => {
  const joined: StoresJoined = { type: 'StoresJoined', data: found }
  return handle(createCommandContext(store, clock), { stream: STORES_STREAM, origin }, storesDecider, (known) => {
    const isKnown = known !== undefined && isSameInstallation(known, found)
    return isKnown || !isWanted(known) ? [] : [joined]
  })
}

const foreignStoresError = (known: StoreIdentities, found: StoreIdentities) =>
  new ForeignStores(
    `The log's vault and files are in ${known.place} (${shortOf(known)}), and DATA_DIR and READ_MODEL name ${found.place} ` +
      `(${shortOf(found)}): set them to the former, or run \`npx adamant restore --in-place\` if that is lost`,
  )

const shortOf = ({ vault, files }: StoreIdentities) => `vault ${vault.slice(0, 8)}, files ${files.slice(0, 8)}`
