import { setTimeout as pause } from 'node:timers/promises'
import type { PositionOrStart } from '../stores/ports/event-store.ts'
import type { Lease, ModelDeclaration, ReadStore } from '../stores/ports/read-store.ts'

/** Invalid usage: the operation needs another option, folder or address. */
export class BadUsage extends Error {
  override readonly name = 'BadUsage'
}

/** The operation failed. The message tells the operator all that is needed. */
export class OperationFailure extends Error {
  override readonly name = 'OperationFailure'
}

/** Receives the progress of an operation; the command line prints it on stderr. */
export type Reporter = {
  /**
   * Begins a step that may take long.
   * @param total undefined if not known in advance
   * @param unit plural noun, such as `files`
   */
  startStep(label: string, total: number | undefined, unit: string): StepProgress
  note(sentence: string): void
}

export type StepProgress = {
  /**
   * @param done units done since the step began
   * @param share completed fraction of the step, 0 to 1, if there is no total
   */
  update(done: number, share?: number): void
  end(): void
}

/** Common options of operations. An aborted operation throws the signal's reason. */
export type Operation = { readonly report: Reporter; readonly signal: AbortSignal }

type OperationStep = { readonly label: string; readonly total: number | undefined; readonly unit: string }

/**
 * Runs one step of an operation and reports its progress, unless `total` is 0.
 * @throws the signal's reason at the first update after an abort, and whatever `work` throws
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

/** Counts items by reading all of them: positions on EventStoreDB do not count events. */
export async function countItems(items: AsyncIterable<unknown>): Promise<number> {
  let number = 0
  for await (const _ of items) number++
  return number
}

/** The fraction of the log up to a position, 0 to 1, assuming that positions grow evenly. */
export function shareOf(position: PositionOrStart, head: PositionOrStart): number {
  if (head === 'start') return 1
  if (position === 'start') return 0
  return Math.min(1, Number(position.commit) / Number(head.commit))
}

/** A lease of a killed process expires after up to half of this timeout (MongoDB). */
const LEASE_RETRY_INTERVAL_MS = 200
const LEASE_TIMEOUT_MS = 8_000

type LeaseWaitOptions = { readonly timeoutMs?: number; readonly signal?: AbortSignal }

/**
 * Acquires a lease; retries for `timeoutMs`, since a process that was killed shortly before may still hold it.
 * @returns undefined if another process holds it at the end of the timeout
 * @throws the signal's reason, and whatever the store throws
 */
export async function waitForLease(
  reads: Pick<ReadStore, 'acquireLease'>,
  declaration: ModelDeclaration,
  { timeoutMs = LEASE_TIMEOUT_MS, signal }: LeaseWaitOptions = {},
): Promise<Lease | undefined> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    signal?.throwIfAborted()
    const lease = await reads.acquireLease(declaration)
    if (lease !== undefined || performance.now() >= deadline) return lease
    await pause(LEASE_RETRY_INTERVAL_MS)
  }
}
