import { setTimeout as pause } from 'node:timers/promises'
import type { Lease, ModelDeclaration, ReadStore } from '../stores/ports/read-store.ts'

/** Milliseconds between two tries, and for how long: a holder that was killed counts as alive for half of it (MongoDB). */
const TRY_MS = 200
const PATIENCE_MS = 8_000

/** @property signal ends the waiting */
export type WaitOptions = { readonly patienceMs?: number; readonly signal?: AbortSignal }

/**
 * Takes a lease for work that one process does at a time and that an ended one may have held until a moment ago.
 * @returns undefined where another process still holds it after `patienceMs`
 * @throws the signal's reason, and what the store throws
 */
export async function waitForLease(
  reads: Pick<ReadStore, 'lease'>,
  declaration: ModelDeclaration,
  { patienceMs = PATIENCE_MS, signal }: WaitOptions = {},
): Promise<Lease | undefined> {
  const until = performance.now() + patienceMs
  for (;;) {
    signal?.throwIfAborted()
    const lease = await reads.lease(declaration)
    if (lease !== undefined || performance.now() >= until) return lease
    await pause(TRY_MS)
  }
}
