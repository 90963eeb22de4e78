import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { lockFile } from '../folder/lock.ts'
import { StoreUnavailable } from '../ports/event-store.ts'
import {
  ReadModelLost,
  versionedName,
  type ReadModelBuild,
  type PendingBuild,
  type ModelDeclaration,
  type ReadModel,
  type ReadStore,
} from '../ports/read-store.ts'
import { emitWarning, type WarningLogger } from '../../runtime/logger.ts'
import { countTurns } from './change-detection.ts'
import { openBuildPointers } from './documents/build-pointers.ts'
import { createLiveReadModel, openBuilds, type SqliteScheduler } from './documents/builds.ts'
import { mapTransientErrors, retryWrite } from './documents/read-model-file.ts'
import { SqliteLeases } from './leases.ts'
import { walThread, type WalThread } from './wal.ts'

type SqliteReadStoreOptions = {
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
  const found: ReadModelLost[] = []
  const onDamage = (damage: ReadModelLost) => {
    found.push(damage)
    warn({ file: damage.file, model: damage.model }, `a read model ${damage.what}; it is rebuilt`)
  }
  const pointers = openBuildPointers(folder, turn, onDamage)
  const leases = new SqliteLeases(pointers.exclusively)
  const lockOf = (declaration: ModelDeclaration) => join(folder, `read-${versionedName(declaration)}.lock`)
  const requireLease = (declaration: ModelDeclaration) => leases.requireNotLost(lockOf(declaration))
  const builds = openBuilds(folder, pointers, { turn, schedule, warn, thread, requireLease, onDamage })
  builds.removeAbandoned()
  const readers = new Map<string, ReadModel>()

  /** @throws ReadModelLost if the live build's file is damaged or was deleted */
  function live(declaration: ModelDeclaration): ReadModelBuild {
    const { name, version } = declaration
    const liveId = pointers.liveBuild(name, version)
    if (liveId !== undefined) {
      builds.requireFile(declaration, liveId)
      return builds.open(declaration, liveId, 'live')
    }
    const build = builds.make(declaration, 'live')
    try {
      const id = pointers.claim(name, version, build.id)
      if (id !== build.id) builds.remove(declaration, build.id)
      return builds.open(declaration, id, 'live')
    } catch (error) {
      // A full disk may store the file but not the pointer; without this, every retry would leave another file.
      if (!pointers.isLive(build.id)) builds.remove(declaration, build.id)
      throw error
    }
  }

  function checkLiveFile(declaration: ModelDeclaration): void {
    const id = pointers.liveBuild(declaration.name, declaration.version)
    if (id === undefined) return
    try {
      builds.checkFile(declaration, id)
    } catch (error) {
      if (!(error instanceof ReadModelLost)) throw error
      if (!found.some(({ file }) => file === error.file)) found.push(error)
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
      const key = versionedName(declaration)
      const reader = readers.get(key) ?? createLiveReadModel(declaration, pointers, builds)
      readers.set(key, reader)
      return reader
    },
    acquireLease: async (declaration) => mapTransientErrors(() => leases.acquire(lockOf(declaration))),
    async isLeaseHeld(declaration) {
      const lock = mapTransientErrors(() => lockFile(lockOf(declaration), 'exclusive', 0))
      lock?.release()
      return lock === undefined
    },
    live: (declaration) => retryWrite(() => live(declaration)),
    isLive: async (declaration, { id }) =>
      pointers.liveBuild(declaration.name, declaration.version) === id && builds.exists(declaration, id),
    begin: (declaration) => retryWrite(() => builds.make(declaration, 'filling')),
    beginPendingBuild: (declaration) => retryWrite(() => beginPendingBuild(declaration)),
    pendingBuild: async (declaration) => pendingBuild(declaration),
    openPendingBuild: async (declaration, pending) => openPendingBuild(declaration, pending),
    markCaughtUp: ({ name, version }, { id }) =>
      retryWrite(() => {
        if (pointers.pendingBuild(name, version)?.id === id)
          pointers.recordPending(name, version, { id, isCaughtUp: true })
      }),
    promote: (declaration, build) =>
      retryWrite(() => {
        const old = pointers.liveBuild(declaration.name, declaration.version)
        pointers.exclusively(() => {
          requireLease(declaration)
          pointers.setLive(declaration.name, declaration.version, build.id)
        })
        builds.markPromoted(build.id)
        if (old !== undefined && old !== build.id) builds.retire(declaration, old)
      }),
    async drop(declaration, build) {
      if (pointers.isLive(build.id)) throw new Error(`build ${build.id} of ${declaration.name} is live`)
      await retryWrite(() => pointers.clearPending(build.id))
      builds.remove(declaration, build.id)
    },
    async findDamage(declarations) {
      pointers.checkFile()
      for (const declaration of declarations) checkLiveFile(declaration)
      return found
    },
    async close() {
      await builds.close()
      pointers.close()
    },
  }
}
