import {
  isSameInstallation,
  hasLostVault,
  storesFold,
  STORES_STREAM,
  type StoreIdentities,
  type StoresJoined,
} from '../../domain/installation/installation.ts'
import { StoreUnavailable, type EventStore } from '../../stores/ports/event-store.ts'
import type { Origin } from '../../events/event-metadata.ts'
import { handle } from '../core/handle.ts'
import { createCommandContext } from '../core/command-context.ts'

type JoinStoresContext = { readonly store: EventStore; readonly clock: () => number; readonly origin: Origin }

/** The vault or the files belong to another installation. Using them would lose data that the log refers to. */
export class ForeignStores extends StoreUnavailable {
  override readonly name = 'ForeignStores'
}

/** A read model, the vault or the folder that has seen another log. */
type OtherLogObservation = { readonly observer: string; readonly identity: string }

/**
 * Checks that the vault and the files belong to the event log. The first ones ever used with a log become its own, unless
 * something else has seen another log.
 * @param otherLog what has seen another log, if anything
 * @param mayRecord false only checks
 * @returns `vault lost` if the files are the log's own but the vault is new: it replaces the lost one
 * @throws ForeignStores, StoreUnavailable
 */
export async function verifyJoinedStores(
  context: JoinStoresContext,
  stores: StoreIdentities,
  { otherLog, mayRecord }: { readonly otherLog: OtherLogObservation | undefined; readonly mayRecord: boolean },
): Promise<'unchanged' | 'vault lost'> {
  // Nothing can be appended to a closed log.
  const isRecorded = mayRecord && (await context.store.closedReason()) === undefined
  const identity = await context.store.identity()
  let isVaultLost = false
  await appendStoresJoined(context, stores, (recordedStores) => {
    isVaultLost = recordedStores !== undefined && hasLostVault(recordedStores, stores)
    if (recordedStores !== undefined && !isVaultLost) throw foreignStoresError(recordedStores, stores)
    if (recordedStores === undefined && otherLog !== undefined) throw otherLogError(identity, otherLog, stores)
    return isRecorded
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
  return handle(createCommandContext(store, clock), { stream: STORES_STREAM, origin }, storesFold, (recordedStores) => {
    const isUnchanged = recordedStores !== undefined && isSameInstallation(recordedStores, stores)
    return isUnchanged || !shouldAppend(recordedStores) ? [] : [joined]
  })
}

const foreignStoresError = (recordedStores: StoreIdentities, stores: StoreIdentities) =>
  new ForeignStores(
    `The log's vault and files are in ${recordedStores.place} (${formatStoreIds(recordedStores)}), but DATA_DIR and READ_MODEL name ${stores.place} ` +
      `(${formatStoreIds(stores)}): change the settings to the log's own stores, or run \`adamant restore --in-place\` if those are lost`,
  )

const otherLogError = (
  identity: string,
  { observer, identity: other }: OtherLogObservation,
  { place }: StoreIdentities,
) =>
  new ForeignStores(
    `The event log ${identity.slice(0, 8)} has never been used with the vault and files in ${place}, and ${observer} has seen another log, ` +
      `${other.slice(0, 8)}: change the settings, or put this installation's own log back. Only if they belong together, run ` +
      '`adamant restore --in-place`',
  )

const formatStoreIds = ({ vault, files }: StoreIdentities) => `vault ${vault.slice(0, 8)}, files ${files.slice(0, 8)}`
