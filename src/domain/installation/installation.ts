import { z } from 'zod'
import { declareEvents, type EventOf } from '../event.ts'
import { latestEventDecider } from '../decider.ts'

/** Of what ids there are: each kind counts for itself, in the stream `ids-{kind}`. */
export const ID_KINDS = ['account', 'client', 'diamond', 'certification', 'webhook'] as const
export const ID_STREAM_PREFIX = 'ids-'

const integer = z.int().min(1)

export const idEvents = declareEvents(`${ID_STREAM_PREFIX}{kind}`, {
  IdsReserved: {
    about: `One process may give out these integer ids. Kinds: ${ID_KINDS.join(', ')}.`,
    payload: z.object({ from: integer, to: integer.describe('the last one, included') }),
  },
})
export type IdsReserved = EventOf<typeof idEvents>

export const idsDecider = latestEventDecider<IdsReserved>('IdsReserved')

/** Reserves the `size` integers that follow the last reserved ones; the first integer ever is 1. */
export function reserveIds(last: IdsReserved['data'] | undefined, size: number): IdsReserved {
  const to = last?.to ?? 0
  return { type: 'IdsReserved', data: { from: to + 1, to: to + size } }
}

/**
 * Log, vault and files are one installation. Vault and files have an identity each, made with them; the log says which are
 * its own.
 */

/** The stream of it. It is no part of what a move copies: the target's are others. */
export const STORES_STREAM = 'stores'

export const storesEvents = declareEvents(STORES_STREAM, {
  StoresJoined: {
    about: 'Vault and files of these identities belong to this log.',
    payload: z.object({
      vault: z.string().describe('identity of the vault'),
      files: z.string().describe('identity of the files'),
      place: z.string().describe('where they were, for people'),
    }),
  },
})
export type StoresJoined = EventOf<typeof storesEvents>
/** Identities of a vault and of files, and where they were. */
export type StoreIdentities = StoresJoined['data']

export const storesDecider = latestEventDecider<StoresJoined>('StoresJoined')

/** Whether what is at hand is what the log has for its own. */
export const isSameInstallation = (known: StoreIdentities, found: StoreIdentities): boolean =>
  known.vault === found.vault && known.files === found.files

/** A vault that was lost beside its files is made anew, without what waited in it; files that were lost are not. */
export const hasLostVault = (known: StoreIdentities, found: StoreIdentities): boolean =>
  known.vault !== found.vault && known.files === found.files

/**
 * A log that was restored from a backup has forgotten its last days, and the world has not: clients hold tokens, links
 * and ids of them. A restore begins a new epoch, which whatever the service gives out carries from then on.
 */

/** The stream of restores. It is copied with the log: a moved log has the same past. */
export const RESTORES_STREAM = 'restores'

/** Appended last of what a restore writes. */
export const restoreEvents = declareEvents(RESTORES_STREAM, {
  LogRestored: {
    about: 'The log was restored from a backup: tokens and links that were given out before are refused.',
    payload: z.object({ epoch: z.int().min(1).describe('higher than any that the log has had') }),
  },
})
export type LogRestored = EventOf<typeof restoreEvents>

/** The epoch of a log that was never restored, and of whatever does not tell its own. */
export const FIRST_EPOCH = 0

/** As it is carried: not at all where the log was never restored, so that what older releases made is the same. */
export const logEpochMember = (epoch: number): { readonly logEpoch?: number } =>
  epoch === FIRST_EPOCH ? {} : { logEpoch: epoch }

/** Whether something that carries the one is of the other. */
export const isSameEpoch = (one: number | undefined, other: number | undefined): boolean =>
  (one ?? FIRST_EPOCH) === (other ?? FIRST_EPOCH)

/** An event as a store has it: nothing is known of its data. */
type StoredRestoreEvent = { readonly type: string; readonly data: Readonly<Record<string, unknown>> }

/** The epoch that a log is in. @param last the newest event of RESTORES_STREAM, undefined where there is none */
export function epochOfLastRestore(last: StoredRestoreEvent | undefined): number {
  const epoch = last?.type === 'LogRestored' ? Number(last.data['epoch']) : FIRST_EPOCH
  return Number.isSafeInteger(epoch) ? epoch : FIRST_EPOCH
}

/** The stream in which a model's runner is asked for retries. */
export const retriesStream = (model: string) => `retries-${model}`

export const retryEvents = declareEvents(retriesStream('{model}'), {
  RetryRequested: {
    about: 'An operator asked that streams which a read model had set aside be folded again.',
    payload: z.object({
      model: z.string().describe('name of the read model or the reaction'),
      streams: z.array(z.string()).describe('at most 100'),
    }),
  },
})
export type RetryRequested = EventOf<typeof retryEvents>
