import type { Installation } from '../wiring/installation.ts'
import { READ_MODELS } from '../wiring/followers.ts'
import { PolledProgress } from '../projections/engine/progress.ts'
import { StoreUnavailable, type PositionOrStart } from '../stores/ports/event-store.ts'
import type { ModelDeclaration, ReadStore } from '../stores/ports/read-store.ts'

/** Milliseconds that a command waits for a running service to know what it wrote. */
const READ_MODEL_TIMEOUT_MS = 30_000

/** Waits until the read models of a running service hold what was written; without one there is nothing to wait for. */
export async function awaitReadModels({ reads }: Installation, position: PositionOrStart): Promise<void> {
  for (const projection of READ_MODELS) {
    // What is made of the log as a whole nobody asks for what he has just written, and it is written late.
    if ('fold' in projection) continue
    const { declaration } = projection
    if (!(await hasActiveRunner(reads, declaration))) continue
    await new PolledProgress(await reads.model(declaration)).waitForPosition(position, READ_MODEL_TIMEOUT_MS)
  }
}

/** What was written is written, though the read models are away: whoever keeps them finds it when they are back. */
async function hasActiveRunner(reads: ReadStore, declaration: ModelDeclaration): Promise<boolean> {
  try {
    return await reads.isLeaseHeld(declaration)
  } catch (error) {
    if (error instanceof StoreUnavailable) return false
    throw error
  }
}
