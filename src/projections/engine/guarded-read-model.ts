import type { EventStore } from '../../stores/ports/event-store.ts'
import {
  ReadModelNotBuilt,
  type ModelDeclaration,
  type ReadModel,
  type ReadStore,
} from '../../stores/ports/read-store.ts'
import { isCheckpointOfLog } from './checkpoint.ts'

/**
 * A read model for requests, guarded against a live build that lacks the events of this log: no projection has run yet, or the build
 * belongs to another log. After a restore from a backup, such a build has events that never happened in this log. Until a projecting
 * process has built the model, its position is 'start', `get` finds nothing, and `find`, `count` and similar queries throw
 * ReadModelNotBuilt: an empty list would make clients create everything again. Once a build belongs to this log, all later ones do.
 */
export async function openGuardedReadModel(
  reads: ReadStore,
  store: EventStore,
  declaration: ModelDeclaration,
): Promise<ReadModel> {
  const model = await reads.model(declaration)
  let isKnownUsable = false

  async function isUsable(): Promise<boolean> {
    // `live` creates a build if there is none, and only the projecting process may do that.
    if ((await model.position()) === 'start') return false
    const checkpoint = await (await reads.live(declaration)).checkpoint()
    return (isKnownUsable = checkpoint === undefined || (await isCheckpointOfLog(store, checkpoint)))
  }

  async function readGuarded<Result>(read: () => Promise<Result>, fallback: () => Result): Promise<Result> {
    return isKnownUsable || (await isUsable()) ? read() : fallback()
  }

  function refuse(): never {
    throw new ReadModelNotBuilt(declaration.name)
  }

  // If the read store is unavailable now, the next request checks again.
  await isUsable().catch(() => undefined)
  return {
    get: (id, select) =>
      readGuarded(
        () => model.get(id, select),
        () => undefined,
      ),
    find: (query) => readGuarded(() => model.find(query), refuse),
    count: (where, bounded) => readGuarded(() => model.count(where, bounded), refuse),
    counts: (where) => readGuarded(() => model.counts(where), refuse),
    sequences: (ids) => readGuarded(() => model.sequences(ids), refuse),
    position: () =>
      readGuarded(
        () => model.position(),
        () => 'start',
      ),
    parkedStreams: () =>
      readGuarded(
        () => model.parkedStreams(),
        () => new Set(),
      ),
  }
}
