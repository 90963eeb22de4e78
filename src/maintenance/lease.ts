import { setTimeout as pause } from 'node:timers/promises'
import type { Lease, ModelDeclaration, ReadStore } from '../stores/ports/read-store.ts'
import { Failed } from './operation.ts'

/** Milliseconds for which a process that was killed may still count as alive (MongoDB), and between two looks. */
const HELD = 8_000
const LOOK = 200

export type Waiting = {
  readonly signal: AbortSignal
  /** What is said where another process holds it longer. */
  readonly held: string
  /** Milliseconds. */
  readonly patience?: number
}

/**
 * The lease of what one process at a time does.
 * @throws Failed where another one goes on doing it, and the signal's reason
 */
export async function takeLease(
  reads: ReadStore,
  declaration: ModelDeclaration,
  { signal, held, patience = HELD }: Waiting,
): Promise<Lease> {
  const until = performance.now() + patience
  for (;;) {
    signal.throwIfAborted()
    const lease = await reads.lease(declaration)
    if (lease !== undefined) return lease
    if (performance.now() > until) throw new Failed(held)
    await pause(LOOK)
  }
}
