import type { Filling, ModelDeclaration } from '../../ports/read-store.ts'
import { StoreUnavailable } from '../../ports/event-store.ts'
import { confirmed, inserted } from '../confirmed.ts'
import type { Mongo } from '../connection.ts'
import { isDuplicate, STORE } from '../failure.ts'

/** Which build of each model's version is live. */
export type Pointers = {
  /** At most so old as POINTER_AGE, in milliseconds; what this process has pointed at, at once. */
  live(declaration: ModelDeclaration): Promise<string | undefined>
  /** Makes a build live where none is. @returns the live build, of whoever was first */
  claim(declaration: ModelDeclaration, build: string): Promise<string>
  /** @throws StoreUnavailable where another process has taken the model's lease since this one did */
  point(declaration: ModelDeclaration, build: string): Promise<void>
  /** From here on nobody points who took the model's lease before this process did. */
  fence(declaration: ModelDeclaration): Promise<void>
  /** Puts a build in the place of one that is gone, where that is still the live one. */
  replace(declaration: ModelDeclaration, gone: string, build: string): Promise<void>
  /** The builds that are live, of whatever model and version. */
  all(): Promise<ReadonlySet<string>>
  filling(declaration: ModelDeclaration): Promise<Filling | undefined>
  /** Records what is being filled, in place of what was. */
  fill(declaration: ModelDeclaration, filling: Filling): Promise<void>
  /** Records that it has come to the head, where it is the one that is recorded. */
  markFilled(declaration: ModelDeclaration, build: string): Promise<void>
  /** Ends the record of a build. */
  forget(build: string): Promise<void>
  /** The builds that are recorded as being filled. */
  allFilling(): Promise<ReadonlySet<string>>
}

/**
 * Milliseconds for which a pointer is not read again: reading costs one call, not two. An answer from the build before
 * is as right: it stays for a minute, and who waits for a write looks at the build that it will read.
 */
export const POINTER_AGE = 100

/** @property token the highest fencing token of the model's leases that it was shown; earlier releases show it none */
type Pointer = { readonly _id: string; readonly build: string; readonly token?: number }
type Recorded = { readonly _id: string; readonly build: string; readonly isFilled: boolean }

const pointersOf = ({ db }: Pick<Mongo, 'db'>) => db.collection<Pointer>('read_models')

/** The highest fencing token that the pointer of a model's version was shown; 0 where it was shown none. */
export const shownToken = async (mongo: Mongo, name: string): Promise<number> =>
  (await mongo.call(() => pointersOf(mongo).findOne({ _id: name })))?.token ?? 0

const nameOf = ({ name, version }: ModelDeclaration) => `${name}-v${version}`

/**
 * @param now milliseconds that never go back
 * @param tokenOf the fencing token of the lease of a model that this process took last; 0 where it took none
 */
export function pointersIn(
  mongo: Mongo,
  now: () => number,
  tokenOf: (declaration: ModelDeclaration) => number,
): Pointers {
  const { db, call } = mongo
  const pointers = pointersOf(mongo)
  /** Apart from the pointers: whoever looks for live builds need not know of it. */
  const recorded = db.collection<Recorded>('read_models_filling')
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
    async live(declaration) {
      const name = nameOf(declaration)
      const pointer = known.get(name)
      return pointer !== undefined && now() - pointer.readAt < POINTER_AGE ? pointer.build : read(name)
    },
    async claim(declaration, build) {
      const name = nameOf(declaration)
      if (await call(() => inserted(pointers, { _id: name, build, token: tokenOf(declaration) }))) return build
      const found = await confirmed(mongo, (options) => pointers.findOne({ _id: name }, options))
      if (found === null) throw new StoreUnavailable(`the pointer of ${name} was there, and is gone`, { store: STORE })
      return found.build
    },
    async point(declaration, build) {
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
    all: () => call(async () => new Set((await pointers.find().toArray()).map(({ build }) => build))),
    async filling(declaration) {
      const found = await call(() => recorded.findOne({ _id: nameOf(declaration) }))
      return found === null ? undefined : { id: found.build, isFilled: found.isFilled }
    },
    async fill(declaration, { id, isFilled }) {
      await call(() => recorded.replaceOne({ _id: nameOf(declaration) }, { build: id, isFilled }, { upsert: true }))
    },
    async markFilled(declaration, build) {
      await call(() => recorded.updateOne({ _id: nameOf(declaration), build }, { $set: { isFilled: true } }))
    },
    async forget(build) {
      await call(() => recorded.deleteMany({ build }))
    },
    allFilling: () => call(async () => new Set((await recorded.find().toArray()).map(({ build }) => build))),
  }
}
