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
  const left = [...indexes]
  let making: Promise<void> | undefined

  /** If one fails, the next call retries it. */
  async function make(): Promise<void> {
    try {
      for (let next = left[0]; next !== undefined; next = left[0]) {
        await mongo.call(next, BATCH)
        left.shift()
      }
    } finally {
      making = undefined
    }
  }

  return async (action, kind) => {
    if (left.length > 0) await mongo.withDeadline((making ??= make()), READ)
    return mongo.call(() => action(collections), kind)
  }
}
