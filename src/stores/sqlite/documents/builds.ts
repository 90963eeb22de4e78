import type Database from 'better-sqlite3'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { WarningLogger } from '../../../runtime/logger.ts'
import type { PendingBuild, ModelDeclaration, ReadModel } from '../../ports/read-store.ts'
import { cacheUntilChanged, type TurnCounter } from '../change-detection.ts'
import { isBusy, type SqliteFileFormat } from '../database-file.ts'
import { WalCheckpointer, type WalThread } from '../wal.ts'
import { createBuild, type SqliteBuild } from './build.ts'
import { mapTransientErrors, isOpenSomewhere, openDatabase, removeFile } from './read-model-file.ts'
import { schemaOf } from './schema.ts'

export type SqliteBuildPointers = {
  liveBuild(model: string, version: number): string | undefined
  /** Makes the build live if there is no live build. @returns the live build, possibly another process's */
  claim(model: string, version: number, build: string): string
  /** Makes the build live and clears its pending record, in one transaction. */
  setLive(model: string, version: number, build: string): void
  isLive(build: string): boolean
  pendingBuild(model: string, version: number): PendingBuild | undefined
  /** Replaces any previously recorded pending build. */
  recordPending(model: string, version: number, pending: PendingBuild): void
  clearPending(build: string): void
  isPending(build: string): boolean
  close(): void
}

/** `AdRp` in ASCII. */
const format: SqliteFileFormat = {
  name: 'index of read models',
  applicationId: 0x41645270,
  migrations: [
    (db) =>
      db.exec(`CREATE TABLE live (
        model TEXT NOT NULL, version INTEGER NOT NULL, build TEXT NOT NULL, PRIMARY KEY (model, version)
      ) STRICT, WITHOUT ROWID`),
    (db) =>
      db.exec(`CREATE TABLE filling (
        model TEXT NOT NULL, version INTEGER NOT NULL, build TEXT NOT NULL, filled INTEGER NOT NULL,
        PRIMARY KEY (model, version)
      ) STRICT, WITHOUT ROWID`),
  ],
}

type PendingBuildRow = [model: string, version: number, build: string, filled: number]

const nameOf = (model: string, version: number | bigint) => `${model}-v${version}`

export function openBuildPointers(path: string, turn: TurnCounter): SqliteBuildPointers {
  const db = openDatabase(path, format, { cacheKib: 256, make: true })
  const rows = db.prepare<[], [model: string, version: number, build: string]>('SELECT * FROM live').raw()
  const insert = db.prepare('INSERT OR IGNORE INTO live VALUES (?, ?, ?)')
  const replace = db.prepare('INSERT OR REPLACE INTO live VALUES (?, ?, ?)')
  const recorded = db.prepare<[], PendingBuildRow>('SELECT * FROM filling').raw()
  const record = db.prepare('INSERT OR REPLACE INTO filling VALUES (?, ?, ?, ?)')
  const erase = db.prepare('DELETE FROM filling WHERE build = ?')
  const read = () => ({
    live: new Map(rows.all().map(([model, version, id]) => [nameOf(model, version), id])),
    filling: new Map(
      recorded.all().map(([model, version, id, filled]) => [nameOf(model, version), { id, isCaughtUp: filled === 1 }]),
    ),
  })
  const cachedPointers = cacheUntilChanged(db, turn, read)
  const setLiveTransaction = db.transaction((model: string, version: number, build: string) => {
    replace.run(model, version, build)
    erase.run(build)
  })
  return {
    liveBuild: (model, version) => cachedPointers.get().live.get(nameOf(model, version)),
    claim(model, version, build) {
      insert.run(model, version, build)
      cachedPointers.invalidate()
      return cachedPointers.get().live.get(nameOf(model, version)) ?? build
    },
    setLive(model, version, build) {
      setLiveTransaction.immediate(model, version, build)
      cachedPointers.invalidate()
    },
    isLive: (build) => [...cachedPointers.get().live.values()].includes(build),
    pendingBuild: (model, version) => cachedPointers.get().filling.get(nameOf(model, version)),
    recordPending(model, version, { id, isCaughtUp }) {
      record.run(model, version, id, isCaughtUp ? 1 : 0)
      cachedPointers.invalidate()
    },
    clearPending(build) {
      erase.run(build)
      cachedPointers.invalidate()
    },
    isPending: (build) => [...cachedPointers.get().filling.values()].some(({ id }) => id === build),
    close: () => void db.close(),
  }
}

/** The build files of one folder. Each file is opened at most once per process. */
export type SqliteBuilds = {
  make(declaration: ModelDeclaration, use: BuildUse): SqliteBuild
  /** A build that is open already stays as it was opened. */
  open(declaration: ModelDeclaration, id: string, use: BuildUse): SqliteBuild
  markPromoted(id: string): void
  exists(declaration: ModelDeclaration, id: string): boolean
  retire(declaration: ModelDeclaration, id: string): void
  remove(declaration: ModelDeclaration, id: string): void
  /**
   * Removes builds left by killed processes: neither live nor open in any process. A pending build is kept for a week
   * so that a rebuild can resume it.
   */
  removeAbandoned(): void
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

export type BuildUse = keyof typeof CACHE_KIB
const FILE_NAME = /^read-.+-v\d+-([0-9a-f]+)\.db$/

/** Milliseconds for other processes to finish reading the old build. */
const RETIREMENT_DELAY_MS = 60_000
/** Milliseconds. A younger file may be about to be opened by the process that created it. */
const MIN_ABANDONED_AGE_MS = 60_000
/** Milliseconds after which a pending build counts as abandoned. */
const ABANDONED_AFTER_MS = 7 * 86_400_000

/** Documents written between two checkpoints of a file: about 30 MB of WAL. */
const DOCUMENTS_BETWEEN_CHECKPOINTS = 4000
/** Pages that each transaction writes in addition (index leaves, checkpoint), counted as documents. */
const COMMIT_OVERHEAD_DOCUMENTS = 3

/** Runs the action later, unless the process ends first. */
export type SqliteScheduler = (action: () => void, milliseconds: number) => void

export type SqliteBuildsOptions = {
  readonly turn: TurnCounter
  readonly schedule: SqliteScheduler
  readonly warn: WarningLogger
  readonly thread: WalThread
}

type OpenedBuildFile = { readonly build: SqliteBuild; readonly db: Database.Database }

export function openBuilds(
  folder: string,
  pointers: SqliteBuildPointers,
  { turn, schedule, warn, thread }: SqliteBuildsOptions,
): SqliteBuilds {
  const opened = new Map<string, OpenedBuildFile>()
  /** Including those of deleted files, which the thread may still have open. */
  const checkpointers: WalCheckpointer[] = []
  let isClosed = false
  const pathOf = ({ name, version }: ModelDeclaration, id: string) => join(folder, `read-${name}-v${version}-${id}.db`)

  function openBuild(declaration: ModelDeclaration, id: string, use: BuildUse, make: boolean): SqliteBuild {
    const path = pathOf(declaration, id)
    const db = openDatabase(path, formatOf(declaration), { cacheKib: CACHE_KIB[use], make })
    const walOptions = { file: path, mode: 'passive', writesBetweenCheckpoints: DOCUMENTS_BETWEEN_CHECKPOINTS } as const
    // If a checkpoint fails, SQLite checkpoints during a commit (AUTOCHECKPOINT in read-model-file.ts): slower, but
    // correct.
    const checkpointer = new WalCheckpointer({ ...walOptions, name: 'a read model', thread, warn })
    const onWritten = (documents: number) => checkpointer.recordWrites(documents + COMMIT_OVERHEAD_DOCUMENTS)
    checkpointers.push(checkpointer)
    const build = createBuild(id, db, declaration, turn, onWritten)
    opened.set(id, { build, db })
    return build
  }

  function remove(declaration: ModelDeclaration, id: string): void {
    opened.get(id)?.build.close()
    opened.delete(id)
    removeFile(pathOf(declaration, id))
  }

  return {
    make: (declaration, use) => openBuild(declaration, randomBytes(6).toString('hex'), use, true),
    open: (declaration, id, use) => opened.get(id)?.build ?? openBuild(declaration, id, use, false),
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
        const id = FILE_NAME.exec(name)?.[1]
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
    mapTransientErrors(() => pointers.clearPending(id))
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
  let liveBuild: SqliteBuild | undefined

  function openLiveBuild(): SqliteBuild | undefined {
    const id = pointers.liveBuild(declaration.name, declaration.version)
    if (id === liveBuild?.id) return liveBuild
    if (liveBuild !== undefined) builds.retire(declaration, liveBuild.id)
    liveBuild = id === undefined ? undefined : builds.open(declaration, id, 'live')
    return liveBuild
  }

  return {
    get: (id, select) => mapTransientErrors(() => openLiveBuild()?.queries.get(id, select)),
    find: (query) => mapTransientErrors(() => openLiveBuild()?.queries.find(query) ?? []),
    count: (where, countLimit) => mapTransientErrors(() => openLiveBuild()?.queries.count(where, countLimit) ?? 0),
    counts: (where) => mapTransientErrors(() => openLiveBuild()?.queries.counts(where) ?? []),
    sequences: (ids) => mapTransientErrors(() => openLiveBuild()?.loadSequences(ids) ?? []),
    position: () => mapTransientErrors(() => openLiveBuild()?.position() ?? 'start'),
    parkedStreams: () => mapTransientErrors(() => openLiveBuild()?.parkedStreams() ?? NO_STREAMS),
  }
}
