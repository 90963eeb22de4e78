import type { Build, Filling, ModelDeclaration, ReadModel, ReadStore } from '../ports/read-store.ts'
import type { Mongo } from './connection.ts'
import { buildsIn, followLive } from './documents/builds.ts'
import { pointersIn } from './documents/pointers.ts'
import { Leases } from './lease.ts'

/** Runs an action later, unless the process ends before. */
export type Later = (action: () => void, milliseconds: number) => void

const later: Later = (action, milliseconds) => void setTimeout(action, milliseconds).unref()

/** Time for other processes to follow the pointer, and to finish what they read from the old build. */
const RETIREMENT = 60_000

/**
 * Read models in MongoDB: collections a build, and `read_models`, which says which build is live. Any number of
 * processes may read and write at once: each write is guarded by what is stored, and no transaction is needed.
 */
export function documentsIn(
  mongo: Mongo,
  options: { readonly later?: Later; readonly now?: () => number } = {},
): ReadStore {
  const now = options.now ?? (() => performance.now())
  const leases = new Leases(mongo, now)
  const pointers = pointersIn(mongo, now, (declaration) => leases.tokenOf(declaration))
  const builds = buildsIn(mongo, pointers)
  const readers = new Map<string, ReadModel>()
  let closed = false

  /** A build that was dropped by hand is made anew, and filled from the log. */
  async function live(declaration: ModelDeclaration): Promise<Build> {
    const known = await pointers.live(declaration)
    if (known !== undefined && (await builds.exists(known))) return builds.open(declaration, known)
    const made = await builds.make(declaration)
    if (known !== undefined) await pointers.replace(declaration, known, made.id)
    const id = await pointers.claim(declaration, made.id)
    if (id !== made.id) await builds.remove(declaration, made.id)
    return builds.open(declaration, id)
  }

  /** What is the live one by now, or was dropped by hand, is nothing to go on with. */
  async function filling(declaration: ModelDeclaration): Promise<Filling | undefined> {
    const found = await pointers.filling(declaration)
    if (found === undefined || (await pointers.all()).has(found.id)) return undefined
    return (await builds.exists(found.id)) ? found : undefined
  }

  return {
    async model(declaration) {
      const key = `${declaration.name}-v${declaration.version}`
      const reader = readers.get(key) ?? followLive(declaration, pointers, builds)
      readers.set(key, reader)
      return reader
    },
    async lease(declaration) {
      const lease = await leases.take(declaration)
      if (lease === undefined) return undefined
      try {
        await pointers.fence(declaration)
        return lease
      } catch (error) {
        await lease.release()
        throw error
      }
    },
    isHeld: (declaration) => leases.isHeld(declaration),
    live,
    isLive: async (declaration, { id }) => (await pointers.live(declaration)) === id,
    async begin(declaration) {
      await builds.removeLeftovers(declaration)
      return builds.make(declaration)
    },
    async beginFilling(declaration) {
      await builds.removeLeftovers(declaration)
      const before = await filling(declaration)
      const made = await builds.make(declaration)
      await pointers.fill(declaration, { id: made.id, isFilled: false })
      if (before !== undefined) await builds.remove(declaration, before.id)
      return made
    },
    filling,
    openFilling: async (declaration, { id }) => builds.open(declaration, id),
    markFilled: (declaration, { id }) => pointers.markFilled(declaration, id),
    async promote(declaration, build) {
      const old = await pointers.live(declaration)
      await pointers.point(declaration, build.id)
      // A record of what is live counts as none: ended here or not, the switch is the one write above.
      await pointers.forget(build.id)
      if (old === undefined || old === build.id) return
      const retire = async () => {
        if (!closed && !(await pointers.all()).has(old)) await builds.remove(declaration, old)
      }
      // What can't be removed now is removed by the next rebuild.
      ;(options.later ?? later)(() => void retire().catch(() => undefined), RETIREMENT)
    },
    async drop(declaration, build) {
      if ((await pointers.all()).has(build.id)) throw new Error(`build ${build.id} of ${declaration.name} is live`)
      await pointers.forget(build.id)
      await builds.remove(declaration, build.id)
    },
    async close() {
      closed = true
      leases.close()
    },
  }
}
