import { StoreUnavailable } from '../../../src/stores/ports/event-store.ts'
import type { ReadModel, ReadStore } from '../../../src/stores/ports/read-store.ts'

/** Read models some of whose queries a test replaces, for `reads` of a service. @param replaced the replaced queries of a model */
export const withModels =
  (replaced: (model: ReadModel) => Partial<ReadModel>) =>
  (reads: ReadStore): ReadStore => ({
    ...reads,
    async model(declaration) {
      const model = await reads.model(declaration)
      return { ...model, ...replaced(model) }
    },
  })

/** Read models whose next queries wait or fail. */
export function heldReads() {
  const held = { gate: Promise.resolve(), waiting: 0, remainingQueries: Infinity }
  const reads = withModels((model) => ({
    async find(query) {
      held.waiting++
      await held.gate
      held.waiting--
      if (held.remainingQueries-- <= 0) throw new StoreUnavailable('made unavailable by the test')
      return model.find(query)
    },
  }))
  return { held, reads }
}
