import { newestOf } from '../decider.ts'

/** Of what ids there are: each kind counts for itself, in the stream `ids-{kind}`. */
export const ID_KINDS = ['account', 'client', 'diamond', 'certification', 'webhook'] as const
export const IDS = 'ids-'

/** Integers `from` to `to`, both included, that one process alone may give out. */
export type IdsReserved = {
  readonly type: 'IdsReserved'
  readonly data: { readonly from: number; readonly to: number }
}

export const idsDecider = newestOf<IdsReserved>('IdsReserved')

/** Reserves the `size` integers that follow the last reserved ones; the first integer ever is 1. */
export function reserve(last: IdsReserved['data'] | undefined, size: number): IdsReserved {
  const to = last?.to ?? 0
  return { type: 'IdsReserved', data: { from: to + 1, to: to + size } }
}

/**
 * Log, vault and files are one installation. Vault and files have an identity each, made with them; the log says which are
 * its own.
 */

/** The stream of it. It is no part of what a move copies: the target's are others. */
export const STORES_STREAM = 'stores'

/** Identities of a vault and of files, and where they were, for people. */
export type Joined = { readonly vault: string; readonly files: string; readonly place: string }

/** From here on these are the log's. */
export type StoresJoined = { readonly type: 'StoresJoined'; readonly data: Joined }

export const joinedDecider = newestOf<StoresJoined>('StoresJoined')

/** Whether what is at hand is what the log has for its own. */
export const belongsWith = (known: Joined, found: Joined): boolean =>
  known.vault === found.vault && known.files === found.files

/** A vault that was lost beside its files is made anew, without what waited in it; files that were lost are not. */
export const hasLostVault = (known: Joined, found: Joined): boolean =>
  known.vault !== found.vault && known.files === found.files

/**
 * A log that was restored from a backup has forgotten its last days, and the world has not: clients hold tokens, links
 * and ids of them. A restore begins a new epoch, which whatever the service gives out carries from then on.
 */

/** The stream of restores. It is copied with the log: a moved log has the same past. */
export const RESTORES_STREAM = 'restores'

/**
 * From here on the log's epoch is `epoch`: higher than any that this log has had, also in days which are lost.
 * Appended last of what a restore writes.
 */
export type LogRestored = { readonly type: 'LogRestored'; readonly data: { readonly epoch: number } }

/** The epoch of a log that was never restored, and of whatever does not tell its own. */
export const FIRST_EPOCH = 0

/** As it is carried: not at all where the log was never restored, so that what older releases made is the same. */
export const carried = (epoch: number): { readonly logEpoch?: number } =>
  epoch === FIRST_EPOCH ? {} : { logEpoch: epoch }

/** Whether something that carries the one is of the other. */
export const sameEpoch = (one: number | undefined, other: number | undefined): boolean =>
  (one ?? FIRST_EPOCH) === (other ?? FIRST_EPOCH)

/** An event as a store has it: nothing is known of its data. */
type Found = { readonly type: string; readonly data: Readonly<Record<string, unknown>> }

/** The epoch that a log is in. @param last the newest event of RESTORES_STREAM, undefined where there is none */
export function epochOf(last: Found | undefined): number {
  const epoch = last?.type === 'LogRestored' ? Number(last.data['epoch']) : FIRST_EPOCH
  return Number.isSafeInteger(epoch) ? epoch : FIRST_EPOCH
}

/** An operator asked that streams which a read model had set aside be folded again. */
export type RetryRequested = {
  readonly type: 'RetryRequested'
  /** model: a read model's name. streams: at most 100 of those that it had set aside. */
  readonly data: { readonly model: string; readonly streams: readonly string[] }
}

/** The stream in which a model's runner is asked for retries. */
export const retriesStream = (model: string) => `retries-${model}`
