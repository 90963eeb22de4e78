import { StoreUnavailable, type EventStore } from '../../stores/ports/event-store.ts'
import type { ModelDeclaration, ReadModel, ReadStore } from '../../stores/ports/read-store.ts'
import { isCheckpointOfLog } from './checkpoint.ts'

/**
 * A read model for requests, guarded against a live build of another log. After a restore from a backup, such a build
 * has events that never happened in this log: until a projecting process has rebuilt it, its position is 'start', `get`
 * finds nothing, and `find`, `count` and similar queries throw StoreUnavailable. Once the build belongs to this log,
 * all later ones do.
 */
export async function openGuardedReadModel(
  reads: ReadStore,
  store: EventStore,
  declaration: ModelDeclaration,
): Promise<ReadModel> {
  const model = await reads.model(declaration)
  let foreign = true

  async function isForeign(): Promise<boolean> {
    // `live` creates a build if there is none, and only the projecting process may do that.
    if ((await model.position()) === 'start') return (foreign = false)
    const checkpoint = await (await reads.live(declaration)).checkpoint()
    return (foreign = checkpoint !== undefined && !(await isCheckpointOfLog(store, checkpoint)))
  }

  function guarded<Result>(read: () => Result | Promise<Result>, fallback: () => Result): Result | Promise<Result> {
    return foreign ? isForeign().then((still) => (still ? fallback() : read())) : read()
  }

  function refuse(): never {
    throw new StoreUnavailable(
      `the read model ${declaration.name} belongs to another event log and has not been rebuilt yet`,
    )
  }

  // If the read store is unavailable now, the next request checks again.
  await isForeign().catch(() => undefined)
  return {
    get: (id, select) =>
      guarded(
        () => model.get(id, select),
        () => undefined,
      ),
    find: (query) => guarded(() => model.find(query), refuse),
    count: (where, bounded) => guarded(() => model.count(where, bounded), refuse),
    counts: (where) => guarded(() => model.counts(where), refuse),
    sequences: (ids) => guarded(() => model.sequences(ids), refuse),
    position: () =>
      guarded(
        () => model.position(),
        () => 'start',
      ),
    parkedStreams: () =>
      guarded(
        () => model.parkedStreams(),
        () => new Set(),
      ),
  }
}
