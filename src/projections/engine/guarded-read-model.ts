import { StoreUnavailable, type EventStore } from '../../stores/ports/event-store.ts'
import type { ModelDeclaration, ReadModel, ReadStore } from '../../stores/ports/read-store.ts'
import { isCheckpointOfLog } from './checkpoint.ts'

/**
 * A read model for requests, as far as its live build is of the log at hand. Where the log was restored from a backup,
 * the build tells of what never happened there: until a process that projects has made another, it counts as one that has
 * not begun, and is not asked for lists. Once it belongs to the log, whatever comes after it does.
 * `find` and `count` of a build of another log throw StoreUnavailable.
 */
export async function openGuardedReadModel(
  reads: ReadStore,
  store: EventStore,
  declaration: ModelDeclaration,
): Promise<ReadModel> {
  const model = await reads.model(declaration)
  let foreign = true

  async function isForeign(): Promise<boolean> {
    // Asking for the live build makes one where there is none, and only the projections' runner may do that.
    if ((await model.position()) === 'start') return (foreign = false)
    const checkpoint = await (await reads.live(declaration)).checkpoint()
    return (foreign = checkpoint !== undefined && !(await isCheckpointOfLog(store, checkpoint)))
  }

  function asked<Answer>(ask: () => Answer | Promise<Answer>, instead: () => Answer): Answer | Promise<Answer> {
    return foreign ? isForeign().then((still) => (still ? instead() : ask())) : ask()
  }

  function refuse(): never {
    throw new StoreUnavailable(`the read model ${declaration.name} is of another log, and not made anew yet`)
  }

  // A read store that is away now is asked again with the next request.
  await isForeign().catch(() => undefined)
  return {
    get: (id, select) =>
      asked(
        () => model.get(id, select),
        () => undefined,
      ),
    find: (query) => asked(() => model.find(query), refuse),
    count: (where, bounded) => asked(() => model.count(where, bounded), refuse),
    counts: (where) => asked(() => model.counts(where), refuse),
    sequences: (ids) => asked(() => model.sequences(ids), refuse),
    position: () =>
      asked(
        () => model.position(),
        () => 'start',
      ),
    parkedStreams: () =>
      asked(
        () => model.parkedStreams(),
        () => new Set(),
      ),
  }
}
