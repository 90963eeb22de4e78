import type { Installation } from '../wiring/installation.ts'
import { READ_MODELS } from '../wiring/consumers.ts'
import { PolledProgress } from '../projections/engine/progress.ts'
import { StoreUnavailable, type PositionOrStart } from '../stores/ports/event-store.ts'
import type { ModelDeclaration, ReadStore } from '../stores/ports/read-store.ts'

/** How long a command waits for a running service to project the events that it wrote. */
const READ_MODEL_TIMEOUT_MS = 30_000

/** Waits until the read models reach `position`. Models that no running process maintains are not waited for. */
export async function awaitReadModels({ reads }: Installation, position: PositionOrStart): Promise<void> {
  for (const projection of READ_MODELS) {
    // The Merkle tree folds the whole log and is written late; no client expects to read its own writes from it.
    if ('fold' in projection) continue
    const { declaration } = projection
    if (!(await hasActiveRunner(reads, declaration))) continue
    await new PolledProgress(await reads.model(declaration)).waitForPosition(position, READ_MODEL_TIMEOUT_MS)
  }
}

/** The events are durable: if the read store is unavailable, the projection catches up later, so the command succeeds. */
async function hasActiveRunner(reads: ReadStore, declaration: ModelDeclaration): Promise<boolean> {
  try {
    return await reads.isLeaseHeld(declaration)
  } catch (error) {
    if (error instanceof StoreUnavailable) return false
    throw error
  }
}
