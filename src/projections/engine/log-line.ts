import { readEpoch } from '../../commands/installation/log-epoch.ts'
import { FIRST_EPOCH } from '../../domain/installation/restoring.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'

/**
 * Names a log and its epoch: `IDENTITY`, or `IDENTITY/EPOCH` since it was restored. Checkpoints carry it, so that what was
 * folded in days which are lost is worth nothing, wherever it had come to.
 * @throws StoreUnavailable
 */
export async function lineOf(store: Pick<EventStore, 'identity' | 'read'>): Promise<string> {
  const identity = await store.identity()
  const epoch = await readEpoch(store)
  return epoch === FIRST_EPOCH ? identity : `${identity}/${epoch}`
}

/** What a line names. */
export function parseLine(line: string): { readonly identity: string; readonly epoch: number } {
  const [identity = '', epoch] = line.split('/')
  return { identity, epoch: Number(epoch ?? FIRST_EPOCH) }
}
