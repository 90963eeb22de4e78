import { epochOfLastRestore, FIRST_EPOCH, RESTORES_STREAM } from '../domain/installation/installation.ts'
import type { EventStore } from '../stores/ports/event-store.ts'

/** The epoch that the log is in now. @throws StoreUnavailable */
export async function readEpoch(store: Pick<EventStore, 'read'>): Promise<number> {
  const [last] = await store.read(RESTORES_STREAM, { last: 1 })
  return epochOfLastRestore(last)
}

/**
 * Names a log and its epoch: `IDENTITY`, or `IDENTITY/EPOCH` since it was restored. Checkpoints carry it, so that what was
 * folded in days which are lost is worth nothing, wherever it had come to.
 * @throws StoreUnavailable
 */
export async function logLineage(store: Pick<EventStore, 'identity' | 'read'>): Promise<string> {
  const identity = await store.identity()
  const epoch = await readEpoch(store)
  return epoch === FIRST_EPOCH ? identity : `${identity}/${epoch}`
}

/** What a lineage names. */
export function parseLineage(lineage: string): { readonly identity: string; readonly epoch: number } {
  const [identity = '', epoch] = lineage.split('/')
  return { identity, epoch: Number(epoch ?? FIRST_EPOCH) }
}
