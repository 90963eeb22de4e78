import { z } from 'zod'
import { declareEvents, type EventOf } from '../event.ts'
import { latestEventFold } from '../fold.ts'

/** Each kind has its own sequence of ids, in the stream `ids-{kind}`. */
export const ID_KINDS = ['account', 'client', 'diamond', 'certification', 'webhook'] as const
export const ID_STREAM_PREFIX = 'ids-'

const integer = z.int().min(1)

export const idEvents = declareEvents(`${ID_STREAM_PREFIX}{kind}`, {
  IdsReserved: {
    about: `A process reserved a range of integer ids. Kinds: ${ID_KINDS.join(', ')}.`,
    payload: z.object({ from: integer, to: integer.describe('inclusive') }),
  },
})
export type IdsReserved = EventOf<typeof idEvents>

export const idsFold = latestEventFold<IdsReserved>('IdsReserved')

/** Reserves `size` integers after the last reserved one. The first id is 1. */
export function reserveIds(last: IdsReserved['data'] | undefined, size: number): IdsReserved {
  const to = last?.to ?? 0
  return { type: 'IdsReserved', data: { from: to + 1, to: to + size } }
}

/**
 * An installation consists of an event log, a vault and a file store. The vault and the file store each have an identity,
 * created with them; the log records which ones belong to it.
 */

/** The stream of StoresJoined. A move does not copy it: the target has other stores. */
export const STORES_STREAM = 'stores'

export const storesEvents = declareEvents(STORES_STREAM, {
  StoresJoined: {
    about: 'The vault and the file store with these identities belong to this log.',
    payload: z.object({
      vault: z.string().describe('identity of the vault'),
      files: z.string().describe('identity of the file store'),
      place: z.string().describe('their location, human-readable'),
    }),
  },
})
export type StoresJoined = EventOf<typeof storesEvents>
export type StoreIdentities = StoresJoined['data']

export const storesFold = latestEventFold<StoresJoined>('StoresJoined')

/** Whether the stores found are the ones that the log has recorded. */
export const isSameInstallation = (recorded: StoreIdentities, actual: StoreIdentities): boolean =>
  recorded.vault === actual.vault && recorded.files === actual.files

/** A lost vault is recreated empty: its pending secrets are lost. A lost file store is not recreated. */
export const hasLostVault = (recorded: StoreIdentities, actual: StoreIdentities): boolean =>
  recorded.vault !== actual.vault && recorded.files === actual.files

/**
 * After a restore from a backup, the log lacks its newest events, but clients may still hold tokens, links and ids that these
 * events issued. A restore therefore starts a new epoch. Everything that the service issues carries the current epoch.
 */

/** The stream of restores. A move copies it with the log. */
export const RESTORES_STREAM = 'restores'

/** The last event that a restore appends. */
export const restoreEvents = declareEvents(RESTORES_STREAM, {
  LogRestored: {
    about: 'The log was restored from a backup: tokens and links issued before are rejected.',
    payload: z.object({ epoch: z.int().min(1).describe('higher than any earlier epoch of the log') }),
  },
})
export type LogRestored = EventOf<typeof restoreEvents>

/** The epoch of a log that was never restored, and of everything that carries no epoch. */
export const FIRST_EPOCH = 0

/** Absent in the first epoch, so that the result equals that of releases without epochs. */
export const logEpochMember = (epoch: number): { readonly logEpoch?: number } =>
  epoch === FIRST_EPOCH ? {} : { logEpoch: epoch }

/** Compares two epochs; undefined is the first epoch. */
export const isSameEpoch = (one: number | undefined, other: number | undefined): boolean =>
  (one ?? FIRST_EPOCH) === (other ?? FIRST_EPOCH)

/** An event as stored, with unvalidated data. */
type StoredRestoreEvent = { readonly type: string; readonly data: Readonly<Record<string, unknown>> }

/** @param last the newest event of RESTORES_STREAM, undefined if it has none */
export function epochOfLastRestore(last: StoredRestoreEvent | undefined): number {
  const epoch = last?.type === 'LogRestored' ? Number(last.data['epoch']) : FIRST_EPOCH
  return Number.isSafeInteger(epoch) ? epoch : FIRST_EPOCH
}

/** The stream of requests to retry parked streams of a projection or reaction. */
export const retriesStream = (model: string) => `retries-${model}`

export const retryEvents = declareEvents(retriesStream('{model}'), {
  RetryRequested: {
    about: 'An operator requested a retry of parked streams.',
    payload: z.object({
      model: z.string().describe('name of the projection or reaction'),
      streams: z.array(z.string()).describe('at most 100'),
    }),
  },
})
export type RetryRequested = EventOf<typeof retryEvents>
