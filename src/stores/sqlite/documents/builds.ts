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

/** Which build of a model's version is live: one small file, followed by every process. */
export type SqliteBuildPointers = {
  liveBuild(model: string, version: number): string | undefined
  /** Makes a build live where none is. @returns the live build: that of the process that was first */
  claim(model: string, version: number, build: string): string
  /** In one transaction with the end of the record that it is being filled. */
  setLive(model: string, version: number, build: string): void
  isLive(build: string): boolean
  pendingBuild(model: string, version: number): PendingBuild | undefined
  /** Records what is being filled, in place of what was. */
  recordPending(model: string, version: number, filling: PendingBuild): void
  /** Ends the record of a build. */
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
  const known = cacheUntilChanged(db, turn, read)
  const pointed = db.transaction((model: string, version: number, build: string) => {
    replace.run(model, version, build)
    erase.run(build)
  })
  return {
    liveBuild: (model, version) => known.get().live.get(nameOf(model, version)),
    claim(model, version, build) {
      insert.run(model, version, build)
      known.invalidate()
      return known.get().live.get(nameOf(model, version)) ?? build
    },
    setLive(model, version, build) {
      pointed.immediate(model, version, build)
      known.invalidate()
    },
    isLive: (build) => [...known.get().live.values()].includes(build),
    pendingBuild: (model, version) => known.get().filling.get(nameOf(model, version)),
    recordPending(model, version, { id, isCaughtUp }) {
      record.run(model, version, id, isCaughtUp ? 1 : 0)
      known.invalidate()
    },
    clearPending(build) {
      erase.run(build)
      known.invalidate()
    },
    isPending: (build) => [...known.get().filling.values()].some(({ id }) => id === build),
    close: () => void db.close(),
  }
}

/** The builds' files of one folder, each opened once a process. */
export type SqliteBuilds = {
  make(declaration: ModelDeclaration, use: BuildUse): SqliteBuild
  /** One that is open already stays as it was opened. */
  open(declaration: ModelDeclaration, id: string, use: BuildUse): SqliteBuild
  /** Told of one that was filled and is live now. */
  markPromoted(id: string): void
  exists(declaration: ModelDeclaration, id: string): boolean
  /** Removes a build when every reader has had time to follow the pointer. */
  retire(declaration: ModelDeclaration, id: string): void
  remove(declaration: ModelDeclaration, id: string): void
  /**
   * Removes what processes that were killed left behind: neither live nor open in any process. What is recorded as being
   * filled waits a week for somebody who goes on with it.
   */
  removeAbandoned(): void
  close(): Promise<void>
}

/** `AdRm` in ASCII. The tables are the declaration's: a changed one has a new version, and so a file of its own. */
const formatOf = (declaration: ModelDeclaration): SqliteFileFormat => ({
  name: 'read model',
  applicationId: 0x4164526d,
  migrations: [(db) => db.exec(schemaOf(declaration))],
})

/**
 * KiB that SQLite keeps of a file. One that is being filled has its indexes written all over: the upper levels of each and
 * the newest documents of a million stay at hand. Of a live one the system keeps the rest, outside of the process: with as
 * much for each the service would grow for an hour and more, by 64 MiB a model.
 */
const CACHE = { filling: 64 * 1024, live: 4 * 1024 } as const

/** What a build is opened for. */
export type BuildUse = keyof typeof CACHE
const FILE_NAME = /^read-.+-v\d+-([0-9a-f]+)\.db$/

/** Time for other processes to finish what they read from the old build. */
const RETIREMENT_DELAY_MS = 60_000
/** A file younger than this may be about to be opened by the process that made it, in milliseconds. */
const NEW = 60_000
/** Likewise of one that somebody began to fill: nobody goes on with it after so long. */
const ABANDONED_AFTER_MS = 7 * 86_400_000

/** Documents between two checkpoints of a file: about 30 MB of WAL. */
const DOCUMENTS_BETWEEN_CHECKPOINTS = 4000
/** Beside its documents a transaction writes the last page of each index, and the checkpoint. */
const COMMIT_OVERHEAD_DOCUMENTS = 3

/** Runs an action later, unless the process ends before. */
export type SqliteScheduler = (action: () => void, milliseconds: number) => void

export type SqliteBuildsOptions = {
  readonly turn: TurnCounter
  readonly schedule: SqliteScheduler
  readonly told: WarningLogger
  readonly thread: WalThread
}

/** What there is of a build in this process, by its id. */
type OpenedBuildFile = { readonly build: SqliteBuild; readonly db: Database.Database }

export function openBuilds(
  folder: string,
  pointers: SqliteBuildPointers,
  { turn, schedule, told, thread }: SqliteBuildsOptions,
): SqliteBuilds {
  const opened = new Map<string, OpenedBuildFile>()
  /** Also of files that were removed: a thread may still have one open. */
  const checkpointers: WalCheckpointer[] = []
  let closed = false
  const pathOf = ({ name, version }: ModelDeclaration, id: string) => join(folder, `read-${name}-v${version}-${id}.db`)

  function openBuild(declaration: ModelDeclaration, id: string, use: BuildUse, make: boolean): SqliteBuild {
    const path = pathOf(declaration, id)
    const db = openDatabase(path, formatOf(declaration), { cacheKib: CACHE[use], make })
    const walOf = { file: path, mode: 'keep up', writesBetweenCheckpoints: DOCUMENTS_BETWEEN_CHECKPOINTS } as const
    // Where a checkpoint fails, SQLite itself checkpoints in a commit (AUTOCHECKPOINT in read-model-file.ts): slower, not wrong.
    const checkpointer = new WalCheckpointer({ ...walOf, name: 'a read model', thread, told })
    const written = (documents: number) => checkpointer.recordWrites(documents + COMMIT_OVERHEAD_DOCUMENTS)
    checkpointers.push(checkpointer)
    const build = createBuild(id, db, declaration, turn, written)
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
    markPromoted: (id) => void opened.get(id)?.db.pragma(`cache_size = ${-CACHE.live}`),
    exists: (declaration, id) => existsSync(pathOf(declaration, id)),
    retire(declaration, id) {
      schedule(() => {
        if (!closed && !pointers.isLive(id)) remove(declaration, id)
      }, RETIREMENT_DELAY_MS)
    },
    remove,
    removeAbandoned() {
      for (const name of readdirSync(folder)) {
        const id = FILE_NAME.exec(name)?.[1]
        const path = join(folder, name)
        if (id === undefined || pointers.isLive(id)) continue
        if (isYounger(path, pointers.isPending(id) ? ABANDONED_AFTER_MS : NEW) || isOpenSomewhere(path)) continue
        if (!tryClearPending(pointers, id)) continue
        removeFile(path)
      }
    },
    async close() {
      closed = true
      await Promise.all(checkpointers.map((checkpointer) => checkpointer.close()))
      for (const { build } of opened.values()) build.close()
      opened.clear()
    },
  }
}

/** False where another program holds the index: what is left behind is then removed by the next start. */
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

/** Whether it was last written less than so many milliseconds ago; what was written last may still be in its WAL. */
const isYounger = (path: string, than: number) =>
  ['', '-wal'].some((suffix) => {
    const { mtimeMs = 0 } = statSync(path + suffix, { throwIfNoEntry: false }) ?? {}
    return Date.now() - mtimeMs < than
  })

const NO_STREAMS: ReadonlySet<string> = new Set()

/** Reads whatever build is live at each call; an answer never mixes two, since each is one statement on one file. */
export function createLiveReadModel(
  declaration: ModelDeclaration,
  pointers: SqliteBuildPointers,
  builds: SqliteBuilds,
): ReadModel {
  let followed: SqliteBuild | undefined

  function current(): SqliteBuild | undefined {
    const id = pointers.liveBuild(declaration.name, declaration.version)
    if (id === followed?.id) return followed
    if (followed !== undefined) builds.retire(declaration, followed.id)
    followed = id === undefined ? undefined : builds.open(declaration, id, 'live')
    return followed
  }

  return {
    get: (id, select) => mapTransientErrors(() => current()?.queries.get(id, select)),
    find: (query) => mapTransientErrors(() => current()?.queries.find(query) ?? []),
    count: (where, bounded) => mapTransientErrors(() => current()?.queries.count(where, bounded) ?? 0),
    counts: (where) => mapTransientErrors(() => current()?.queries.counts(where) ?? []),
    sequences: (ids) => mapTransientErrors(() => current()?.loadSequences(ids) ?? []),
    position: () => mapTransientErrors(() => current()?.position() ?? 'start'),
    parkedStreams: () => mapTransientErrors(() => current()?.parkedStreams() ?? NO_STREAMS),
  }
}
