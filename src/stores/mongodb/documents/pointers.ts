import { versionedName, type PendingBuild, type ModelDeclaration } from '../../ports/read-store.ts'
import { StoreUnavailable } from '../../ports/event-store.ts'
import { readLinearizable, insertIfAbsent } from '../linearizable-reads.ts'
import type { MongoDatabase } from '../connection.ts'
import { isDuplicate, STORE } from '../failure.ts'

export type MongoBuildPointers = {
  /** May be up to POINTER_CACHE_MS out of date; this process's own changes are seen immediately. */
  liveBuild(declaration: ModelDeclaration): Promise<string | undefined>
  /** Makes the build live if there is no live build. @returns the live build, possibly another process's */
  claim(declaration: ModelDeclaration, build: string): Promise<string>
  /** @throws StoreUnavailable if another process has acquired the model's lease since */
  setLive(declaration: ModelDeclaration, build: string): Promise<void>
  /** From now on, setLive fails for processes whose lease is older than this one's (fencing). */
  fence(declaration: ModelDeclaration): Promise<void>
  /** Replaces a deleted build by another one, if the deleted one is still recorded as live. */
  replace(declaration: ModelDeclaration, deletedBuild: string, build: string): Promise<void>
  allLive(): Promise<ReadonlySet<string>>
  pendingBuild(declaration: ModelDeclaration): Promise<PendingBuild | undefined>
  /** Replaces any previously recorded pending build. */
  recordPending(declaration: ModelDeclaration, pending: PendingBuild): Promise<void>
  /** Records that the build has reached the head, if it is still pending. */
  markCaughtUp(declaration: ModelDeclaration, build: string): Promise<void>
  clearPending(build: string): Promise<void>
  allPending(): Promise<ReadonlySet<string>>
}

/**
 * Milliseconds for which a pointer is cached, which saves one of two calls per read. Reading the previous build
 * meanwhile is correct: it is kept for a minute, and read-your-writes waits on the build that it will read.
 */
export const POINTER_CACHE_MS = 100

/** @property token the highest fencing token seen from the model's leases; absent if written by an earlier release */
type PointerDocument = { readonly _id: string; readonly build: string; readonly token?: number }
type PendingBuildDocument = { readonly _id: string; readonly build: string; readonly isFilled: boolean }

const pointersOf = ({ db }: Pick<MongoDatabase, 'db'>) => db.collection<PointerDocument>('read_models')

/** The highest fencing token seen by the pointer of a model version; 0 if none. */
export const readFencingToken = async (mongo: MongoDatabase, name: string): Promise<number> =>
  (await mongo.call(() => pointersOf(mongo).findOne({ _id: name })))?.token ?? 0

/**
 * @param now milliseconds of a monotonic clock
 * @param tokenOf the fencing token of the lease that this process acquired last; 0 if none
 */
export function pointersIn(
  mongo: MongoDatabase,
  now: () => number,
  tokenOf: (declaration: ModelDeclaration) => number,
): MongoBuildPointers {
  const { db, call } = mongo
  const pointers = pointersOf(mongo)
  /** A separate collection, so that code that looks for live builds need not know of it. */
  const pendingBuilds = db.collection<PendingBuildDocument>('read_models_filling')
  const cache = new Map<string, { readonly build: string; readonly readAt: number }>()

  async function read(name: string): Promise<string | undefined> {
    const readAt = now()
    const found = await call(() => pointers.findOne({ _id: name }))
    // A late response must not switch back to the previous build, which may lack data that was already waited for.
    const newer = cache.get(name)
    if (newer !== undefined && newer.readAt > readAt) return newer.build
    if (found !== null) cache.set(name, { build: found.build, readAt })
    return found?.build
  }

  const unlessFenced = (declaration: ModelDeclaration) => ({
    _id: versionedName(declaration),
    token: { $not: { $gt: tokenOf(declaration) } },
  })

  return {
    async liveBuild(declaration) {
      const name = versionedName(declaration)
      const pointer = cache.get(name)
      return pointer !== undefined && now() - pointer.readAt < POINTER_CACHE_MS ? pointer.build : read(name)
    },
    async claim(declaration, build) {
      const name = versionedName(declaration)
      if (await call(() => insertIfAbsent(pointers, { _id: name, build, token: tokenOf(declaration) }))) return build
      const found = await readLinearizable(mongo, (options) => pointers.findOne({ _id: name }, options))
      if (found === null) throw new StoreUnavailable(`the pointer of ${name} was deleted`, { store: STORE })
      return found.build
    },
    async setLive(declaration, build) {
      const name = versionedName(declaration)
      const update = { $set: { build, token: tokenOf(declaration) } }
      try {
        await call(() => pointers.updateOne(unlessFenced(declaration), update, { upsert: true }))
      } catch (error) {
        // The pointer exists and has a higher token.
        if (!isDuplicate(error)) throw error
        throw new StoreUnavailable(`another process has acquired the lease of ${name}`, { cause: error, store: STORE })
      }
      cache.set(name, { build, readAt: now() })
    },
    async fence(declaration) {
      await call(() => pointers.updateOne(unlessFenced(declaration), { $set: { token: tokenOf(declaration) } }))
    },
    async replace(declaration, deletedBuild, build) {
      const name = versionedName(declaration)
      await call(() => pointers.updateOne({ _id: name, build: deletedBuild }, { $set: { build } }))
      cache.delete(name)
    },
    allLive: () => call(async () => new Set((await pointers.find().toArray()).map(({ build }) => build))),
    async pendingBuild(declaration) {
      const found = await call(() => pendingBuilds.findOne({ _id: versionedName(declaration) }))
      return found === null ? undefined : { id: found.build, isCaughtUp: found.isFilled }
    },
    async recordPending(declaration, { id, isCaughtUp }) {
      await call(() =>
        pendingBuilds.replaceOne(
          { _id: versionedName(declaration) },
          { build: id, isFilled: isCaughtUp },
          { upsert: true },
        ),
      )
    },
    async markCaughtUp(declaration, build) {
      await call(() =>
        pendingBuilds.updateOne({ _id: versionedName(declaration), build }, { $set: { isFilled: true } }),
      )
    },
    async clearPending(build) {
      await call(() => pendingBuilds.deleteMany({ build }))
    },
    allPending: () => call(async () => new Set((await pendingBuilds.find().toArray()).map(({ build }) => build))),
  }
}
