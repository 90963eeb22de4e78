import { StoreUnavailable } from '../../../src/stores/ports/event-store.ts'
import type { ReadModel, ReadStore } from '../../../src/stores/ports/read-store.ts'

/**
 * Read models for `reads` of a service, in which a test replaces queries of the diamonds. Others are left as they are,
 * since webhooks and imports query theirs every 2 s.
 * @param replaced the replaced queries
 */
export const withDiamonds =
  (replaced: (model: ReadModel) => Partial<ReadModel>) =>
  (reads: ReadStore): ReadStore => ({
    ...reads,
    async model(declaration) {
      const model = await reads.model(declaration)
      return declaration.name === 'diamonds' ? { ...model, ...replaced(model) } : model
    },
  })

/** Read models in which the next lists of diamonds wait or fail. */
export function heldReads() {
  const held = { gate: Promise.resolve(), waiting: 0, remainingQueries: Infinity }
  const reads = withDiamonds((model) => ({
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
