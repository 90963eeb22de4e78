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
