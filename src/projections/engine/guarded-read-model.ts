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
  let isForeign = true

  async function checkForeign(): Promise<boolean> {
    // `live` creates a build if there is none, and only the projecting process may do that.
    if ((await model.position()) === 'start') return (isForeign = false)
    const checkpoint = await (await reads.live(declaration)).checkpoint()
    return (isForeign = checkpoint !== undefined && !(await isCheckpointOfLog(store, checkpoint)))
  }

  async function readGuarded<Result>(read: () => Promise<Result>, fallback: () => Result): Promise<Result> {
    return isForeign && (await checkForeign()) ? fallback() : read()
  }

  function refuse(): never {
    throw new StoreUnavailable(
      `the read model ${declaration.name} belongs to another event log and has not been rebuilt yet`,
    )
  }

  // If the read store is unavailable now, the next request checks again.
  await checkForeign().catch(() => undefined)
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
