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
