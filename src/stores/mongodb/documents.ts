import {
  versionedName,
  type ReadModelBuild,
  type PendingBuild,
  type ModelDeclaration,
  type ReadModel,
  type ReadStore,
} from '../ports/read-store.ts'
import type { MongoDatabase } from './connection.ts'
import { buildsIn, createLiveReadModel } from './documents/builds.ts'
import { pointersIn } from './documents/pointers.ts'
import { Leases } from './lease.ts'

/** Runs the action later, unless the process ends first. */
type MongoScheduler = (action: () => void, milliseconds: number) => void

const scheduleUnref: MongoScheduler = (action, milliseconds) => void setTimeout(action, milliseconds).unref()

/** Milliseconds for other processes to switch to the new build and to finish reading the old one. */
const RETIREMENT_DELAY_MS = 60_000

/**
 * Read models in MongoDB: separate collections per build, and `read_models`, which records which build is live. Several
 * processes may read and write concurrently: each write is guarded by the stored revision or version, so no
 * transactions are needed.
 */
export function createMongoReadStore(
  mongo: MongoDatabase,
  options: { readonly schedule?: MongoScheduler; readonly now?: () => number } = {},
): ReadStore {
  const now = options.now ?? (() => performance.now())
  const leases = new Leases(mongo, now)
  const pointers = pointersIn(mongo, now, (declaration) => leases.fencingTokenOf(declaration))
  const builds = buildsIn(mongo, pointers)
  const readers = new Map<string, ReadModel>()
  let isClosed = false

  /** If the live build was dropped by hand, creates an empty build, which is then filled from the log. */
  async function live(declaration: ModelDeclaration): Promise<ReadModelBuild> {
    const liveId = await pointers.liveBuild(declaration)
    if (liveId !== undefined && (await builds.exists(liveId))) return builds.open(declaration, liveId)
    const build = await builds.make(declaration)
    if (liveId !== undefined) await pointers.replace(declaration, liveId, build.id)
    const id = await pointers.claim(declaration, build.id)
    if (id !== build.id) await builds.remove(declaration, build.id)
    return builds.open(declaration, id)
  }

  /** Undefined if the recorded build is live by now or was dropped by hand. */
  async function pendingBuild(declaration: ModelDeclaration): Promise<PendingBuild | undefined> {
    const found = await pointers.pendingBuild(declaration)
    if (found === undefined || (await pointers.allLive()).has(found.id)) return undefined
    return (await builds.exists(found.id)) ? found : undefined
  }

  return {
    async model(declaration) {
      const key = versionedName(declaration)
      const reader = readers.get(key) ?? createLiveReadModel(declaration, pointers, builds)
      readers.set(key, reader)
      return reader
    },
    async acquireLease(declaration) {
      const lease = await leases.acquire(declaration)
      if (lease === undefined) return undefined
      try {
        await pointers.fence(declaration)
        return lease
      } catch (error) {
        await lease.release()
        throw error
      }
    },
    isLeaseHeld: (declaration) => leases.isHeld(declaration),
    live,
    isLive: async (declaration, { id }) => (await pointers.liveBuild(declaration)) === id,
    async begin(declaration) {
      await builds.removeAbandoned(declaration)
      return builds.make(declaration)
    },
    async beginPendingBuild(declaration) {
      await builds.removeAbandoned(declaration)
      const before = await pendingBuild(declaration)
      const build = await builds.make(declaration)
      await pointers.recordPending(declaration, { id: build.id, isCaughtUp: false })
      if (before !== undefined) await builds.remove(declaration, before.id)
      return build
    },
    pendingBuild,
    openPendingBuild: async (declaration, { id }) => builds.open(declaration, id),
    markCaughtUp: (declaration, { id }) => pointers.markCaughtUp(declaration, id),
    async promote(declaration, build) {
      const old = await pointers.liveBuild(declaration)
      await pointers.setLive(declaration, build.id)
      // A pending record of the live build is ignored, so promoting takes effect with the single write above.
      await pointers.clearPending(build.id)
      if (old === undefined || old === build.id) return
      const retire = async () => {
        if (!isClosed && !(await pointers.allLive()).has(old)) await builds.remove(declaration, old)
      }
      // If removing fails, the next rebuild removes the build.
      ;(options.schedule ?? scheduleUnref)(() => void retire().catch(() => undefined), RETIREMENT_DELAY_MS)
    },
    findDamage: async () => [],
    async drop(declaration, build) {
      if ((await pointers.allLive()).has(build.id)) throw new Error(`build ${build.id} of ${declaration.name} is live`)
      await pointers.clearPending(build.id)
      await builds.remove(declaration, build.id)
    },
    async close() {
      isClosed = true
      leases.close()
    },
  }
}
