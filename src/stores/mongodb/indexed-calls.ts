import { BATCH, READ, type MongoCallKind, type MongoDatabase } from './connection.ts'

/** One call on collections, READ unless told. @throws StoreUnavailable */
export type CollectionCall<Collections> = <Result>(
  action: (collections: Collections) => Promise<Result>,
  kind?: MongoCallKind,
) => Promise<Result>

/**
 * Calls on collections whose indexes are made before the first of them. Each index has the deadline of a batch to itself:
 * where one takes longer than a call may wait, calls are refused until it is there, and it is made all the same.
 * @param indexes each makes one, and repeated changes nothing
 */
export function indexedCalls<Collections>(
  mongo: MongoDatabase,
  collections: Collections,
  indexes: readonly (() => Promise<unknown>)[],
): CollectionCall<Collections> {
  const left = [...indexes]
  let making: Promise<void> | undefined

  /** Where one fails, the next call goes on with it. */
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
