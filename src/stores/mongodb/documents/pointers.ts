import type { PendingBuild, ModelDeclaration } from '../../ports/read-store.ts'
import { StoreUnavailable } from '../../ports/event-store.ts'
import { readLinearizable, insertIfAbsent } from '../linearizable-reads.ts'
import type { MongoDatabase } from '../connection.ts'
import { isDuplicate, STORE } from '../failure.ts'

/** Which build of each model's version is live. */
export type MongoBuildPointers = {
  /** At most so old as POINTER_AGE, in milliseconds; what this process has pointed at, at once. */
  liveBuild(declaration: ModelDeclaration): Promise<string | undefined>
  /** Makes a build live where none is. @returns the live build, of whoever was first */
  claim(declaration: ModelDeclaration, build: string): Promise<string>
  /** @throws StoreUnavailable where another process has taken the model's lease since this one did */
  setLive(declaration: ModelDeclaration, build: string): Promise<void>
  /** From here on nobody points who took the model's lease before this process did. */
  fence(declaration: ModelDeclaration): Promise<void>
  /** Puts a build in the place of one that is gone, where that is still the live one. */
  replace(declaration: ModelDeclaration, gone: string, build: string): Promise<void>
  /** The builds that are live, of whatever model and version. */
  allLive(): Promise<ReadonlySet<string>>
  pendingBuild(declaration: ModelDeclaration): Promise<PendingBuild | undefined>
  /** Records what is being filled, in place of what was. */
  recordPending(declaration: ModelDeclaration, filling: PendingBuild): Promise<void>
  /** Records that it has come to the head, where it is the one that is recorded. */
  markCaughtUp(declaration: ModelDeclaration, build: string): Promise<void>
  /** Ends the record of a build. */
  clearPending(build: string): Promise<void>
  /** The builds that are recorded as being filled. */
  allPending(): Promise<ReadonlySet<string>>
}

/**
 * Milliseconds for which a pointer is not read again: reading costs one call, not two. An answer from the build before
 * is as right: it stays for a minute, and who waits for a write looks at the build that it will read.
 */
export const POINTER_CACHE_MS = 100

/** @property token the highest fencing token of the model's leases that it was shown; earlier releases show it none */
type PointerDocument = { readonly _id: string; readonly build: string; readonly token?: number }
type PendingBuildDocument = { readonly _id: string; readonly build: string; readonly isFilled: boolean }

const pointersOf = ({ db }: Pick<MongoDatabase, 'db'>) => db.collection<PointerDocument>('read_models')

/** The highest fencing token that the pointer of a model's version was shown; 0 where it was shown none. */
export const readFencingToken = async (mongo: MongoDatabase, name: string): Promise<number> =>
  (await mongo.call(() => pointersOf(mongo).findOne({ _id: name })))?.token ?? 0

const nameOf = ({ name, version }: ModelDeclaration) => `${name}-v${version}`

/**
 * @param now milliseconds that never go back
 * @param tokenOf the fencing token of the lease of a model that this process took last; 0 where it took none
 */
export function pointersIn(
  mongo: MongoDatabase,
  now: () => number,
  tokenOf: (declaration: ModelDeclaration) => number,
): MongoBuildPointers {
  const { db, call } = mongo
  const pointers = pointersOf(mongo)
  /** Apart from the pointers: whoever looks for live builds need not know of it. */
  const recorded = db.collection<PendingBuildDocument>('read_models_filling')
  const known = new Map<string, { readonly build: string; readonly readAt: number }>()

  async function read(name: string): Promise<string | undefined> {
    const readAt = now()
    const found = await call(() => pointers.findOne({ _id: name }))
    // An answer that was long on its way must not lead back to the build before: what was promised of the new one is not there.
    const newer = known.get(name)
    if (newer !== undefined && newer.readAt > readAt) return newer.build
    if (found !== null) known.set(name, { build: found.build, readAt })
    return found?.build
  }

  const unlessFenced = (declaration: ModelDeclaration) => ({
    _id: nameOf(declaration),
    token: { $not: { $gt: tokenOf(declaration) } },
  })

  return {
    async liveBuild(declaration) {
      const name = nameOf(declaration)
      const pointer = known.get(name)
      return pointer !== undefined && now() - pointer.readAt < POINTER_CACHE_MS ? pointer.build : read(name)
    },
    async claim(declaration, build) {
      const name = nameOf(declaration)
      if (await call(() => insertIfAbsent(pointers, { _id: name, build, token: tokenOf(declaration) }))) return build
      const found = await readLinearizable(mongo, (options) => pointers.findOne({ _id: name }, options))
      if (found === null) throw new StoreUnavailable(`the pointer of ${name} was there, and is gone`, { store: STORE })
      return found.build
    },
    async setLive(declaration, build) {
      const name = nameOf(declaration)
      const pointed = { $set: { build, token: tokenOf(declaration) } }
      try {
        await call(() => pointers.updateOne(unlessFenced(declaration), pointed, { upsert: true }))
      } catch (error) {
        // It is there, and its token is a higher one.
        if (!isDuplicate(error)) throw error
        throw new StoreUnavailable(`another process has taken the lease of ${name}`, { cause: error, store: STORE })
      }
      known.set(name, { build, readAt: now() })
    },
    async fence(declaration) {
      await call(() => pointers.updateOne(unlessFenced(declaration), { $set: { token: tokenOf(declaration) } }))
    },
    async replace(declaration, gone, build) {
      const name = nameOf(declaration)
      await call(() => pointers.updateOne({ _id: name, build: gone }, { $set: { build } }))
      known.delete(name)
    },
    allLive: () => call(async () => new Set((await pointers.find().toArray()).map(({ build }) => build))),
    async pendingBuild(declaration) {
      const found = await call(() => recorded.findOne({ _id: nameOf(declaration) }))
      return found === null ? undefined : { id: found.build, isCaughtUp: found.isFilled }
    },
    async recordPending(declaration, { id, isCaughtUp }) {
      await call(() =>
        recorded.replaceOne({ _id: nameOf(declaration) }, { build: id, isFilled: isCaughtUp }, { upsert: true }),
      )
    },
    async markCaughtUp(declaration, build) {
      await call(() => recorded.updateOne({ _id: nameOf(declaration), build }, { $set: { isFilled: true } }))
    },
    async clearPending(build) {
      await call(() => recorded.deleteMany({ build }))
    },
    allPending: () => call(async () => new Set((await recorded.find().toArray()).map(({ build }) => build))),
  }
}
