import { CHECKPOINTED } from '../../wiring/followers.ts'
import type { Installation } from '../../wiring/installation.ts'
import { seenEpoch, witnessesIn } from '../../projections/engine/log-past.ts'

/** The highest epoch that anything beside the log has seen it in: the next one is above it. */
export async function seenEpochOf({ store, reads, vault, seen }: Installation): Promise<number> {
  const last = seen.last()
  const witnesses = await witnessesIn(reads, CHECKPOINTED, vault)
  if (last !== undefined) witnesses.push({ who: 'this folder', ...last })
  return seenEpoch(witnesses, await store.identity())
}
