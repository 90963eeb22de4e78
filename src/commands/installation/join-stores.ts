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

/** The vault or the files belong to another installation. Using them would lose data that the log refers to. */
export class ForeignStores extends StoreUnavailable {
  override readonly name = 'ForeignStores'
}

/**
 * Checks that the vault and the files belong to the event log. The first ones ever used with a log become its own.
 * @returns `vault lost` if the files are the log's own but the vault is new: it replaces the lost one
 * @throws ForeignStores, StoreUnavailable
 */
export async function verifyJoinedStores(
  context: JoinStoresContext,
  stores: StoreIdentities,
): Promise<'unchanged' | 'vault lost'> {
  // Nothing can be appended to a closed log.
  const isClosed = (await context.store.closedReason()) !== undefined
  let isVaultLost = false
  await appendStoresJoined(context, stores, (recordedStores) => {
    isVaultLost = recordedStores !== undefined && hasLostVault(recordedStores, stores)
    if (recordedStores !== undefined && !isVaultLost) throw foreignStoresError(recordedStores, stores)
    return !isClosed
  })
  return isVaultLost ? 'vault lost' : 'unchanged'
}

/** Makes these stores the log's own, replacing any others. For restores and moves. */
export const joinStores = (context: JoinStoresContext, stores: StoreIdentities): Promise<unknown> =>
  appendStoresJoined(context, stores, () => true)

/** @param shouldAppend called if the log has other stores or none */
const appendStoresJoined = (
  { store, clock, origin }: JoinStoresContext,
  stores: StoreIdentities,
  shouldAppend: (recordedStores: StoreIdentities | undefined) => boolean,
): Promise<unknown> => {
  const joined: StoresJoined = { type: 'StoresJoined', data: stores }
  return handle(
    createCommandContext(store, clock),
    { stream: STORES_STREAM, origin },
    storesDecider,
    (recordedStores) => {
      const isUnchanged = recordedStores !== undefined && isSameInstallation(recordedStores, stores)
      return isUnchanged || !shouldAppend(recordedStores) ? [] : [joined]
    },
  )
}

const foreignStoresError = (recordedStores: StoreIdentities, stores: StoreIdentities) =>
  new ForeignStores(
    `The log's vault and files are in ${recordedStores.place} (${formatStoreIds(recordedStores)}), but DATA_DIR and READ_MODEL name ${stores.place} ` +
      `(${formatStoreIds(stores)}): change the settings to the log's own stores, or run \`npx adamant restore --in-place\` if those are lost`,
  )

const formatStoreIds = ({ vault, files }: StoreIdentities) => `vault ${vault.slice(0, 8)}, files ${files.slice(0, 8)}`
