import Database from 'better-sqlite3'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { WarningLogger } from '../../../runtime/logger.ts'
import { ReadModelLost, versionedName, type ModelDeclaration, type ReadModel } from '../../ports/read-store.ts'
import type { TurnCounter } from '../change-detection.ts'
import { isBusy, isDamage, prepareWalCount, requireIntact, type SqliteFileFormat } from '../database-file.ts'
import { WalCheckpointer, type WalThread } from '../wal.ts'
import { BUILD_FILE_NAME, type SqliteBuildPointers } from './build-pointers.ts'
import { createBuild, type SqliteBuild } from './build.ts'
import { isOpenSomewhere, openDatabase, putReadModelAside, removeFile, toStoreError } from './read-model-file.ts'
import { schemaOf } from './schema.ts'

/** The build files of one folder. Each file is opened at most once per process. */
type SqliteBuilds = {
  make(declaration: ModelDeclaration, use: BuildUse): SqliteBuild
  /** A build that is open already stays as it was opened. @throws ReadModelLost if its file is missing or damaged */
  open(declaration: ModelDeclaration, id: string, use: BuildUse): SqliteBuild
  markPromoted(id: string): void
  exists(declaration: ModelDeclaration, id: string): boolean
  /** @throws ReadModelLost if the file is missing, though it may still be open */
  requireFile(declaration: ModelDeclaration, id: string): void
  retire(declaration: ModelDeclaration, id: string): void
  remove(declaration: ModelDeclaration, id: string): void
  /**
   * Removes builds left by killed processes: neither live nor open in any process. A pending build is kept for a week
   * so that a rebuild can resume it.
   */
  removeAbandoned(): void
  /** Reads the file of a build completely. @throws ReadModelLost if it is missing or damaged */
  checkFile(declaration: ModelDeclaration, id: string): void
  close(): Promise<void>
}

/** `AdRm` in ASCII. The declaration determines the tables; a changed declaration has a new version and a separate file. */
const formatOf = (declaration: ModelDeclaration): SqliteFileFormat => ({
  name: 'read model',
  applicationId: 0x4164526d,
  migrations: [(db) => db.exec(schemaOf(declaration))],
})

/**
 * SQLite page cache per file, in KiB. Filling a build writes to random places of all indexes: 64 MiB keep the indexes'
 * upper levels and the newest of a million documents in memory. For a live build, the operating system's page cache
 * does the rest; a larger cache would make the process grow for hours, by 64 MiB per model.
 */
const CACHE_KIB = { filling: 64 * 1024, live: 4 * 1024 } as const

type BuildUse = keyof typeof CACHE_KIB

/** Milliseconds for other processes to finish reading the old build. */
const RETIREMENT_DELAY_MS = 60_000
/** Milliseconds. A younger file may be about to be opened by the process that created it. */
const MIN_ABANDONED_AGE_MS = 60_000
/** Milliseconds after which a pending build counts as abandoned. */
const ABANDONED_AFTER_MS = 7 * 86_400_000

/** Pages of 8 KiB: a checkpoint of 32 MB. */
const MAX_WAL_PAGES = 4096

/** Runs the action later, unless the process ends first. */
export type SqliteScheduler = (action: () => void, milliseconds: number) => void

type SqliteBuildsOptions = {
  readonly turn: TurnCounter
  readonly schedule: SqliteScheduler
  readonly warn: WarningLogger
  readonly thread: WalThread
  /** @throws StoreUnavailable if another process has taken over the lease that this one acquired */
  readonly requireLease: (declaration: ModelDeclaration) => void
  /** Called when a damaged build was put aside. */
  readonly onDamage: (damage: ReadModelLost) => void
}

type OpenedBuildFile = { readonly build: SqliteBuild; readonly db: Database.Database }

export function openBuilds(
  folder: string,
  pointers: SqliteBuildPointers,
  { turn, schedule, warn, thread, requireLease, onDamage }: SqliteBuildsOptions,
): SqliteBuilds {
  const opened = new Map<string, OpenedBuildFile>()
  /** Including those of deleted files, which the thread may still have open. */
  const checkpointers: WalCheckpointer[] = []
  let isClosed = false
  const pathOf = (declaration: ModelDeclaration, id: string) =>
    join(folder, `read-${versionedName(declaration)}-${id}.db`)

  function openBuild(declaration: ModelDeclaration, id: string, use: BuildUse, make: boolean): SqliteBuild {
    const path = pathOf(declaration, id)
    if (!make) requireFile(declaration, id)
    const guard = guardFor(declaration, id)
    const db = guard(() => openDatabase(path, formatOf(declaration), { cacheKib: CACHE_KIB[use], make }))
    try {
      const walOptions = { file: path, maxPages: MAX_WAL_PAGES, countPages: guard(() => prepareWalCount(db)) }
      // If a checkpoint fails, SQLite checkpoints during a commit (AUTOCHECKPOINT in read-model-file.ts): slower, but
      // correct.
      const checkpointer = new WalCheckpointer({ ...walOptions, name: 'a read model', thread, warn })
      const onCommitted = () => checkpointer.afterCommit()
      checkpointers.push(checkpointer)
      const requireWritable = () => {
        requireFile(declaration, id)
        requireLease(declaration)
      }
      const build = guard(() => createBuild(id, db, declaration, { turn, onCommitted, requireWritable, guard }))
      opened.set(id, { build, db })
      return build
    } catch (error) {
      db.close()
      throw error
    }
  }

  const guardFor =
    (declaration: ModelDeclaration, id: string) =>
    <Answer>(action: () => Answer): Answer => {
      try {
        return action()
      } catch (error) {
        if (isDamage(error)) throw putAside(declaration, id, error)
        // better-sqlite3's error for a closed connection.
        if (error instanceof TypeError && !opened.has(id)) throw missing(declaration, id)
        throw toStoreError(error)
      }
    }

  /** Renames a damaged build. Its name is never used again, so two processes can't put aside each other's new build. */
  function putAside(declaration: ModelDeclaration, id: string, error: unknown): ReadModelLost {
    const path = pathOf(declaration, id)
    close(id)
    const what = putReadModelAside(path, `read-${declaration.name}-v`, error)
    const damage = new ReadModelLost(declaration.name, path, what, { cause: error })
    onDamage(damage)
    return damage
  }

  /** Another process may have put the file aside, or somebody deleted it. */
  function requireFile(declaration: ModelDeclaration, id: string): void {
    if (existsSync(pathOf(declaration, id))) return
    close(id)
    throw missing(declaration, id)
  }

  const missing = (declaration: ModelDeclaration, id: string) =>
    new ReadModelLost(declaration.name, pathOf(declaration, id), 'is missing')

  function close(id: string): void {
    opened.get(id)?.build.close()
    opened.delete(id)
  }

  function remove(declaration: ModelDeclaration, id: string): void {
    close(id)
    removeFile(pathOf(declaration, id))
  }

  function open(declaration: ModelDeclaration, id: string, use: BuildUse): SqliteBuild {
    return opened.get(id)?.build ?? openBuild(declaration, id, use, false)
  }

  return {
    make: (declaration, use) => openBuild(declaration, randomBytes(6).toString('hex'), use, true),
    open,
    requireFile,
    markPromoted: (id) => void opened.get(id)?.db.pragma(`cache_size = ${-CACHE_KIB.live}`),
    exists: (declaration, id) => existsSync(pathOf(declaration, id)),
    retire(declaration, id) {
      schedule(() => {
        if (!isClosed && !pointers.isLive(id)) remove(declaration, id)
      }, RETIREMENT_DELAY_MS)
    },
    remove,
    removeAbandoned() {
      for (const name of readdirSync(folder)) {
        const id = BUILD_FILE_NAME.exec(name)?.[3]
        const path = join(folder, name)
        if (id === undefined || pointers.isLive(id)) continue
        if (
          isYoungerThan(path, pointers.isPending(id) ? ABANDONED_AFTER_MS : MIN_ABANDONED_AGE_MS) ||
          isOpenSomewhere(path)
        )
          continue
        if (!tryClearPending(pointers, id)) continue
        removeFile(path)
      }
    },
    checkFile(declaration, id) {
      open(declaration, id, 'live')
      const file = opened.get(id)
      if (file !== undefined) guardFor(declaration, id)(() => requireIntact(file.db, 'integrity_check'))
    },
    async close() {
      isClosed = true
      await Promise.all(checkpointers.map((checkpointer) => checkpointer.close()))
      for (const { build } of opened.values()) build.close()
      opened.clear()
    },
  }
}

/** Returns false if another process has locked the pointer file; the next start then removes the build. */
function tryClearPending(pointers: SqliteBuildPointers, id: string): boolean {
  if (!pointers.isPending(id)) return true
  try {
    pointers.clearPending(id)
    return true
  } catch (error) {
    if (isBusy(error)) return false
    throw error
  }
}

/** Whether the file or its WAL was written less than `ageMs` milliseconds ago. */
const isYoungerThan = (path: string, ageMs: number) =>
  ['', '-wal'].some((suffix) => {
    const { mtimeMs = 0 } = statSync(path + suffix, { throwIfNoEntry: false }) ?? {}
    return Date.now() - mtimeMs < ageMs
  })

const NO_STREAMS: ReadonlySet<string> = new Set()

/** Reads the build that is live at each call. A result never mixes two builds: each call is one statement on one file. */
export function createLiveReadModel(
  declaration: ModelDeclaration,
  pointers: SqliteBuildPointers,
  builds: SqliteBuilds,
): ReadModel {
  let lastId: string | undefined

  /** @throws ReadModelLost */
  function openLiveBuild(): SqliteBuild | undefined {
    const id = pointers.liveBuild(declaration.name, declaration.version)
    if (id !== lastId) {
      if (lastId !== undefined) builds.retire(declaration, lastId)
      lastId = id
    }
    return id === undefined ? undefined : builds.open(declaration, id, 'live')
  }

  return {
    get: async (id, select) => openLiveBuild()?.queries.get(id, select),
    find: async (query) => openLiveBuild()?.queries.find(query) ?? [],
    count: async (where, countLimit) => openLiveBuild()?.queries.count(where, countLimit) ?? 0,
    counts: async (where) => openLiveBuild()?.queries.counts(where) ?? [],
    sequences: async (ids) => openLiveBuild()?.loadSequences(ids) ?? [],
    async position() {
      try {
        return openLiveBuild()?.position() ?? 'start'
      } catch (error) {
        if (error instanceof ReadModelLost) return 'start'
        throw error
      }
    },
    parkedStreams: async () => openLiveBuild()?.parkedStreams() ?? NO_STREAMS,
  }
}
