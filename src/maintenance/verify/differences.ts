import type { DeadLetter } from '../../stores/ports/read-store.ts'

/** What is not as it should be: where (`STREAM@REVISION`, or a position), what, and what an operator does about it. */
export type VerificationDifference = { readonly where: string; readonly what: string; readonly do: string }

/** What an operator does where the log itself is not what was written. */
export const RESTORE_REMEDY =
  'the log was changed behind the service: find out by whom, and go back to a backup by `npx adamant restore`'

/** An event that this release can't fold into a model. */
export const toUnfoldableDifference = (
  model: string,
  { stream, revision, type, reason }: DeadLetter,
): VerificationDifference => ({
  where: `${stream}@${revision}`,
  what: `${type} can't be folded into ${model}: ${reason}`,
  do: RESTORE_REMEDY,
})

/** Differences that are listed; the others are counted only. */
const MAX_LISTED_DIFFERENCES = 1_000

/** Counts all of them, and keeps the first thousand. */
export class Differences {
  count = 0
  readonly listed: VerificationDifference[] = []

  add(difference: VerificationDifference): void {
    this.count++
    if (this.hasRoom) this.listed.push(difference)
  }

  merge(other: Differences): void {
    for (const difference of other.listed) this.add(difference)
    this.count += other.count - other.listed.length
  }

  /** Whether it is worth while to find out more about the next one. */
  get hasRoom(): boolean {
    return this.listed.length < MAX_LISTED_DIFFERENCES
  }
}
