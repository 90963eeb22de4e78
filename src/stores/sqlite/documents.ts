import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { lockFile } from '../folder/lock.ts'
import { StoreUnavailable } from '../ports/event-store.ts'
import type {
  ReadModelBuild,
  PendingBuild,
  Lease,
  ModelDeclaration,
  ReadModel,
  ReadStore,
} from '../ports/read-store.ts'
import { emitWarning, type WarningLogger } from '../../runtime/logger.ts'
import { countTurns } from './change-detection.ts'
import { createLiveReadModel, openBuilds, openBuildPointers, type SqliteScheduler } from './documents/builds.ts'
import { mapTransientErrors, retryWrite } from './documents/read-model-file.ts'
import { walThread, type WalThread } from './wal.ts'

/** A file lock that lasts until its process ends. It cannot be lost, so no fencing token is needed. */
function takeLease(file: string): Lease | undefined {
  const lock = lockFile(file, 'exclusive', 0)
  return lock && { release: async () => lock.release(), lost: new Promise(() => undefined) }
}

export type SqliteReadStoreOptions = {
  readonly schedule?: SqliteScheduler
  readonly warn?: WarningLogger
  readonly thread?: WalThread
}

const scheduleUnref: SqliteScheduler = (action, milliseconds) => void setTimeout(action, milliseconds).unref()

/**
 * Read models in SQLite files in one folder: one file per build, `read-{model}-v{version}-{build}.db`, and
 * `read-models.db`, which records which build is live. Several processes may read and write concurrently.
 * @throws UnreadableFile for a file of a newer release; StoreUnavailable if the folder cannot be used
 */
export function openSqliteReadStore(
  folder: string,
  { schedule = scheduleUnref, warn = emitWarning, thread = walThread }: SqliteReadStoreOptions = {},
): ReadStore {
  mkdirSync(folder, { recursive: true })
  const turn = countTurns()
  const pointers = mapTransientErrors(() => openBuildPointers(join(folder, 'read-models.db'), turn))
  const builds = openBuilds(folder, pointers, { turn, schedule, warn, thread })
  builds.removeAbandoned()
  const readers = new Map<string, ReadModel>()
  const lockOf = ({ name, version }: ModelDeclaration) => join(folder, `read-${name}-v${version}.lock`)

  /** If the live build's file was deleted by hand, creates an empty build, which is then filled from the log. */
  function live(declaration: ModelDeclaration): ReadModelBuild {
    const { name, version } = declaration
    const liveId = pointers.liveBuild(name, version)
    if (liveId !== undefined && builds.exists(declaration, liveId)) return builds.open(declaration, liveId, 'live')
    const build = builds.make(declaration, 'live')
    try {
      if (liveId !== undefined) pointers.setLive(name, version, build.id)
      const id = pointers.claim(name, version, build.id)
      if (id !== build.id) builds.remove(declaration, build.id)
      return builds.open(declaration, id, 'live')
    } catch (error) {
      // A full disk may store the file but not the pointer; without this, every retry would leave another file.
      if (!pointers.isLive(build.id)) builds.remove(declaration, build.id)
      throw error
    }
  }

  /** Recorded immediately, so that no other process removes the new build as abandoned. The previous pending build is removed. */
  function beginPendingBuild(declaration: ModelDeclaration): ReadModelBuild {
    const { name, version } = declaration
    const before = pointers.pendingBuild(name, version)
    const build = builds.make(declaration, 'filling')
    try {
      pointers.recordPending(name, version, { id: build.id, isCaughtUp: false })
    } catch (error) {
      builds.remove(declaration, build.id)
      throw error
    }
    if (before !== undefined && !pointers.isLive(before.id)) builds.remove(declaration, before.id)
    return build
  }

  /** Undefined if the build's file was deleted by hand. */
  function pendingBuild(declaration: ModelDeclaration): PendingBuild | undefined {
    const found = pointers.pendingBuild(declaration.name, declaration.version)
    return found !== undefined && builds.exists(declaration, found.id) ? found : undefined
  }

  function openPendingBuild(declaration: ModelDeclaration, { id }: PendingBuild): ReadModelBuild {
    if (!builds.exists(declaration, id)) throw new StoreUnavailable(`build ${id} of ${declaration.name} was deleted`)
    return builds.open(declaration, id, 'filling')
  }

  return {
    async model(declaration) {
      const key = `${declaration.name}-v${declaration.version}`
      const reader = readers.get(key) ?? createLiveReadModel(declaration, pointers, builds)
      readers.set(key, reader)
      return reader
    },
    acquireLease: async (declaration) => mapTransientErrors(() => takeLease(lockOf(declaration))),
    async isLeaseHeld(declaration) {
      const lease = mapTransientErrors(() => takeLease(lockOf(declaration)))
      await lease?.release()
      return lease === undefined
    },
    live: (declaration) => retryWrite(() => live(declaration)),
    isLive: async ({ name, version }, { id }) => mapTransientErrors(() => pointers.liveBuild(name, version) === id),
    begin: (declaration) => retryWrite(() => builds.make(declaration, 'filling')),
    beginPendingBuild: (declaration) => retryWrite(() => beginPendingBuild(declaration)),
    pendingBuild: async (declaration) => mapTransientErrors(() => pendingBuild(declaration)),
    openPendingBuild: async (declaration, pending) => mapTransientErrors(() => openPendingBuild(declaration, pending)),
    markCaughtUp: ({ name, version }, { id }) =>
      retryWrite(() => {
        if (pointers.pendingBuild(name, version)?.id === id)
          pointers.recordPending(name, version, { id, isCaughtUp: true })
      }),
    promote: (declaration, build) =>
      retryWrite(() => {
        const old = pointers.liveBuild(declaration.name, declaration.version)
        pointers.setLive(declaration.name, declaration.version, build.id)
        builds.markPromoted(build.id)
        if (old !== undefined && old !== build.id) builds.retire(declaration, old)
      }),
    async drop(declaration, build) {
      if (pointers.isLive(build.id)) throw new Error(`build ${build.id} of ${declaration.name} is live`)
      await retryWrite(() => pointers.clearPending(build.id))
      builds.remove(declaration, build.id)
    },
    async close() {
      await builds.close()
      pointers.close()
    },
  }
}
