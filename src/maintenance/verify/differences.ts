import type { DeadLetter } from '../../stores/ports/read-store.ts'

/** A difference: where (`STREAM@REVISION`, or a position), what differs, and what the operator should do. */
export type VerificationDifference = { readonly where: string; readonly what: string; readonly do: string }

/** If the log itself was altered. */
export const RESTORE_REMEDY =
  'the log was altered outside of the service: find out by whom, and restore a backup with adamant restore'

/** The difference for an event that this release cannot fold. */
export const toUnfoldableDifference = (
  model: string,
  { stream, revision, type, reason }: DeadLetter,
): VerificationDifference => ({
  where: `${stream}@${revision}`,
  what: `${type} cannot be folded into ${model}: ${reason}`,
  do: RESTORE_REMEDY,
})

/** Further differences are only counted. */
const MAX_LISTED_DIFFERENCES = 1_000

/** Counts all differences and keeps the first thousand. */
export class Differences {
  count = 0
  readonly listed: VerificationDifference[] = []

  add(difference: VerificationDifference): void {
    this.count++
    if (this.canListMore) this.listed.push(difference)
  }

  merge(other: Differences): void {
    for (const difference of other.listed) this.add(difference)
    this.count += other.count - other.listed.length
  }

  /** Whether the next difference will be listed, so that its details are worth looking up. */
  get canListMore(): boolean {
    return this.listed.length < MAX_LISTED_DIFFERENCES
  }
}
