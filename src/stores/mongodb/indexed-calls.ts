import type { Mongo } from './connection.ts'

/** One call on collections, under a deadline. @throws StoreUnavailable */
export type CallOn<Collections> = <Result>(action: (collections: Collections) => Promise<Result>) => Promise<Result>

/**
 * Calls on collections whose indexes the first call of a process makes before; where that fails, the next one does.
 * @param makeIndexes keeps to the deadlines of `mongo.call` itself
 */
export function indexedCalls<Collections>(
  mongo: Mongo,
  collections: Collections,
  makeIndexes: () => Promise<void>,
): CallOn<Collections> {
  let indexed: Promise<void> | undefined

  async function index(): Promise<void> {
    try {
      await makeIndexes()
    } catch (error) {
      indexed = undefined
      throw error
    }
  }

  return async (action) => {
    await (indexed ??= index())
    return mongo.call(() => action(collections))
  }
}
