import { setTimeout as pause } from 'node:timers/promises'
import type { PositionOrStart } from '../stores/ports/event-store.ts'
import type { Lease, ModelDeclaration, ReadStore } from '../stores/ports/read-store.ts'

/** What was asked for can't be asked for: another option, folder or address is needed. */
export class BadUsage extends Error {
  override readonly name = 'BadUsage'
}

/** What was asked for was not done, and the message says all there is to say. */
export class OperationFailure extends Error {
  override readonly name = 'Failed'
}

/** Receives the progress of an operation: the command line shows it on stderr. */
export type Reporter = {
  /**
   * Begins a step that may take long.
   * @param total undefined where nobody knows it beforehand
   * @param unit what is counted, such as `files`
   */
  startStep(label: string, total: number | undefined, unit: string): StepProgress
  note(sentence: string): void
}

export type StepProgress = {
  /**
   * @param done since the step began
   * @param share of the step that is done, 0 to 1, where there is no total
   */
  update(done: number, share?: number): void
  end(): void
}

/** What every operation is given. The signal's reason is what the operation fails with when it is aborted. */
export type Operation = { readonly report: Reporter; readonly signal: AbortSignal }

/** What a step is called, and how much there is of what it counts; undefined where nobody knows. */
type OperationStep = { readonly label: string; readonly total: number | undefined; readonly unit: string }

/**
 * Does one step of an operation and reports its progress; a step of nothing is not reported.
 * @throws the signal's reason at the next update behind its abortion, and what the work throws
 */
export async function runStep<Result>(
  { report, signal }: Operation,
  { label, total, unit }: OperationStep,
  work: (update: StepProgress['update']) => Promise<Result>,
): Promise<Result> {
  const progress = total === 0 ? undefined : report.startStep(label, total, unit)
  try {
    return await work((done, share) => {
      signal.throwIfAborted()
      progress?.update(done, share)
    })
  } finally {
    progress?.end()
  }
}

/** Counts items by reading all of them: on EventStoreDB a position is not the number of events before it. */
export async function countItems(items: AsyncIterable<unknown>): Promise<number> {
  let number = 0
  for await (const _ of items) number++
  return number
}

/** The share of the log that lies before a position, 0 to 1: positions grow evenly on every engine. @param head where the log ends */
export function shareOf(position: PositionOrStart, head: PositionOrStart): number {
  if (head === 'start') return 1
  if (position === 'start') return 0
  return Math.min(1, Number(position.commit) / Number(head.commit))
}

/** Milliseconds between two tries, and for how long: a holder that was killed counts as alive for half of it (MongoDB). */
const LEASE_RETRY_INTERVAL_MS = 200
const LEASE_TIMEOUT_MS = 8_000

/** @property signal ends the waiting */
export type LeaseWaitOptions = { readonly timeoutMs?: number; readonly signal?: AbortSignal }

/**
 * Takes a lease for work that one process does at a time and that an ended one may have held until a moment ago.
 * @returns undefined where another process still holds it after `patienceMs`
 * @throws the signal's reason, and what the store throws
 */
export async function waitForLease(
  reads: Pick<ReadStore, 'acquireLease'>,
  declaration: ModelDeclaration,
  { timeoutMs = LEASE_TIMEOUT_MS, signal }: LeaseWaitOptions = {},
): Promise<Lease | undefined> {
  const until = performance.now() + timeoutMs
  for (;;) {
    signal?.throwIfAborted()
    const lease = await reads.acquireLease(declaration)
    if (lease !== undefined || performance.now() >= until) return lease
    await pause(LEASE_RETRY_INTERVAL_MS)
  }
}
