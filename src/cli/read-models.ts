import type { Installation } from '../wiring/installation.ts'
import { READ_MODELS } from '../wiring/followers.ts'
import { FollowedProgress } from '../projections/engine/progress.ts'
import { StoreUnavailable, type From } from '../stores/ports/event-store.ts'
import type { ModelDeclaration, ReadStore } from '../stores/ports/read-store.ts'

/** Milliseconds that a command waits for a running service to know what it wrote. */
const PATIENCE = 30_000

/** Waits until the read models of a running service hold what was written; without one there is nothing to wait for. */
export async function awaitReadModels({ reads }: Installation, position: From): Promise<void> {
  for (const projection of READ_MODELS) {
    // What is made of the log as a whole nobody asks for what he has just written, and it is written late.
    if ('fold' in projection) continue
    const { declaration } = projection
    if (!(await isKept(reads, declaration))) continue
    await new FollowedProgress(await reads.model(declaration)).reached(position, PATIENCE)
  }
}

/** What was written is written, though the read models are away: whoever keeps them finds it when they are back. */
async function isKept(reads: ReadStore, declaration: ModelDeclaration): Promise<boolean> {
  try {
    return await reads.isHeld(declaration)
  } catch (error) {
    if (error instanceof StoreUnavailable) return false
    throw error
  }
}
