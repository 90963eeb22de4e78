import { epochOfLastRestore, FIRST_EPOCH, RESTORES_STREAM } from '../domain/installation/installation.ts'
import type { EventStore } from '../stores/ports/event-store.ts'

/** @throws StoreUnavailable */
export async function readEpoch(store: Pick<EventStore, 'readStream'>): Promise<number> {
  const [last] = await store.readStream(RESTORES_STREAM, { last: 1 })
  return epochOfLastRestore(last)
}

/**
 * Identifies a log and its epoch: `IDENTITY`, or `IDENTITY/EPOCH` after a restore. Checkpoints include it: one from
 * before a restore is invalid, because it may include events that were lost.
 * @throws StoreUnavailable
 */
export async function logLineage(store: Pick<EventStore, 'identity' | 'readStream'>): Promise<string> {
  const identity = await store.identity()
  const epoch = await readEpoch(store)
  return epoch === FIRST_EPOCH ? identity : `${identity}/${epoch}`
}

export function parseLineage(lineage: string): { readonly identity: string; readonly epoch: number } {
  const [identity = '', epoch] = lineage.split('/')
  return { identity, epoch: Number(epoch ?? FIRST_EPOCH) }
}
