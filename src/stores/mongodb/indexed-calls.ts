import { BATCH, READ, type MongoCallKind, type MongoDatabase } from './connection.ts'

/** Makes a call on the collections, READ by default. @throws StoreUnavailable */
export type CollectionCall<Collections> = <Result>(
  action: (collections: Collections) => Promise<Result>,
  kind?: MongoCallKind,
) => Promise<Result>

/**
 * Calls on collections whose indexes are created before the first call. Each index has the deadline of a batch. While
 * an index takes longer than a call's deadline, calls fail and the index build continues.
 * @param indexes each creates one index and must be idempotent
 */
export function indexedCalls<Collections>(
  mongo: MongoDatabase,
  collections: Collections,
  indexes: readonly (() => Promise<unknown>)[],
): CollectionCall<Collections> {
  const remaining = [...indexes]
  let creation: Promise<void> | undefined

  /** If one fails, the next call retries it. */
  async function createIndexes(): Promise<void> {
    try {
      for (let next = remaining[0]; next !== undefined; next = remaining[0]) {
        await mongo.call(next, BATCH)
        remaining.shift()
      }
    } finally {
      creation = undefined
    }
  }

  return async (action, kind) => {
    if (remaining.length > 0) await mongo.withDeadline((creation ??= createIndexes()), READ)
    return mongo.call(() => action(collections), kind)
  }
}
