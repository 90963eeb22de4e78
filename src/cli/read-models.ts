import type { Installation } from '../installation.ts'
import { READ_MODELS } from '../projections/declarations.ts'
import { FollowedProgress } from '../projections/followed-progress.ts'
import type { From } from '../stores/event-store.ts'
import type { ModelDeclaration, ReadStore } from '../stores/read-store.ts'

/** Milliseconds that a command waits for a running service to know what it wrote. */
const PATIENCE = 30_000

/** Whether a process keeps a read model up to date at this moment. */
export async function isKept(reads: ReadStore, declaration: ModelDeclaration): Promise<boolean> {
  const lease = await reads.lease(declaration)
  await lease?.release()
  return lease === undefined
}

/** Waits until the read models of a running service hold what was written; without one there is nothing to wait for. */
export async function awaitReadModels({ reads }: Installation, position: From): Promise<void> {
  for (const { declaration } of READ_MODELS) {
    if (!(await isKept(reads, declaration))) continue
    await new FollowedProgress(await reads.model(declaration)).reached(position, PATIENCE)
  }
}
