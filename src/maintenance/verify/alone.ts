import { setTimeout as pause } from 'node:timers/promises'
import type { ModelDeclaration, ReadStore } from '../../stores/ports/read-store.ts'
import { Failed } from '../operation.ts'

/** What the right to verify is kept as: nothing is stored in it. */
const VERIFYING: ModelDeclaration = { name: 'verifying', version: 1, fields: {}, texts: [], indexes: [], counts: [] }

/** Milliseconds that one which was killed may still count as alive (MongoDB), and between two looks. */
const HELD = 8_000
const LOOK = 200

/**
 * Runs while no other process does the same: what one leaves behind that was killed is then the next one's to clear away.
 * @throws Failed
 */
export async function alone<Result>(reads: ReadStore, work: () => Promise<Result>): Promise<Result> {
  const until = performance.now() + HELD
  let lease = await reads.lease(VERIFYING)
  while (lease === undefined) {
    if (performance.now() > until) throw new Failed('Another process is verifying: wait for its end')
    await pause(LOOK)
    lease = await reads.lease(VERIFYING)
  }
  try {
    return await work()
  } finally {
    await lease.release()
  }
}
