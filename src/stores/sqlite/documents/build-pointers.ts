import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { lockFile } from '../../folder/lock.ts'
import { StoreUnavailable } from '../../ports/event-store.ts'
import { ReadModelLost, type PendingBuild } from '../../ports/read-store.ts'
import { cacheUntilChanged, type TurnCounter } from '../change-detection.ts'
import { inodeOf, isDamage, requireIntact, type SqliteFileFormat } from '../database-file.ts'
import { mapTransientErrors, openDatabase, putReadModelAside } from './read-model-file.ts'

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
  /** Runs an action while no other process changes the index or runs one. */
  exclusively<Result>(this: void, action: () => Result): Result
  /** Reads the file completely, and replaces it if it is damaged. */
  checkFile(): void
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

type BuildIndex = ReturnType<typeof openIndex>

/** Its name in DATA_DIR. */
export const INDEX_FILE = 'read-models.db'

/** Milliseconds to wait for another process that replaces a damaged index. */
const LOCK_TIMEOUT_MS = 5_000

/** Milliseconds between two checks whether another process has replaced the index. */
const WATCH_INTERVAL_MS = 1_000

/**
 * Opens the index of builds. A damaged or deleted one is made again from the names of the builds.
 * @param onDamage called when a damaged index was put aside
 * @throws UnreadableFile; StoreUnavailable
 */
export function openBuildPointers(
  folder: string,
  turn: TurnCounter,
  onDamage: (damage: ReadModelLost) => void,
): SqliteBuildPointers {
  const path = join(folder, INDEX_FILE)
  let index = mapTransientErrors(openOrReplace)

  function openOrReplace(): BuildIndex {
    return openUnlessDamaged() ?? replace()
  }

  function openUnlessDamaged(): BuildIndex | undefined {
    try {
      return openIndex(folder, path, turn)
    } catch (error) {
      if (isDamage(error)) return undefined
      throw error
    }
  }

  /** Another process may have replaced it first, and under the lock that one is opened. */
  function replace(): BuildIndex {
    const lock = lockFile(join(folder, 'read-models.lock'), 'exclusive', LOCK_TIMEOUT_MS)
    if (lock === undefined) throw new StoreUnavailable(`${path} is being replaced by another process`)
    try {
      return openIndex(folder, path, turn)
    } catch (error) {
      if (!isDamage(error)) throw error
      onDamage(new ReadModelLost('index', path, putReadModelAside(path, INDEX_FILE, error), { cause: error }))
      return openIndex(folder, path, turn)
    } finally {
      lock.release()
    }
  }

  function adopt(next: BuildIndex): void {
    index.db.close()
    index = next
  }

  function use<Answer>(action: (index: BuildIndex) => Answer): Answer {
    return mapTransientErrors(() => {
      try {
        return action(index)
      } catch (error) {
        if (!isDamage(error)) throw error
        adopt(openOrReplace())
        return action(index)
      }
    })
  }

  function reopenIfReplaced(): void {
    try {
      if (inodeOf(path) !== index.inode) adopt(openOrReplace())
    } catch {
      // The next check tries again; uses of the index get the error.
    }
  }

  const watch = setInterval(reopenIfReplaced, WATCH_INTERVAL_MS).unref()
  const pointersNow = () => use(({ pointers }) => pointers.get())

  return {
    liveBuild: (model, version) => pointersNow().live.get(nameOf(model, version)),
    claim: (model, version, build) =>
      use(({ insertLive, pointers }) => {
        insertLive.run(model, version, build)
        pointers.invalidate()
        return pointers.get().live.get(nameOf(model, version)) ?? build
      }),
    setLive: (model, version, build) =>
      use(({ setLive, pointers }) => {
        setLive(model, version, build)
        pointers.invalidate()
      }),
    isLive: (build) => [...pointersNow().live.values()].includes(build),
    pendingBuild: (model, version) => pointersNow().filling.get(nameOf(model, version)),
    recordPending: (model, version, { id, isCaughtUp }) =>
      use(({ recordFilling, pointers }) => {
        recordFilling.run(model, version, id, isCaughtUp ? 1 : 0)
        pointers.invalidate()
      }),
    clearPending: (build) =>
      use(({ eraseFilling, pointers }) => {
        eraseFilling.run(build)
        pointers.invalidate()
      }),
    isPending: (build) => [...pointersNow().filling.values()].some(({ id }) => id === build),
    exclusively: (action) => use(({ db }) => db.transaction(action).immediate()),
    checkFile: () => use(({ db }) => requireIntact(db, 'integrity_check')),
    close() {
      clearInterval(watch)
      index.db.close()
    },
  }
}

/** @throws SqliteError, also for damage in what it contains */
function openIndex(folder: string, path: string, turn: TurnCounter) {
  // Taken before the file is opened: if it is replaced in between, `reopenIfReplaced` opens it once more than needed.
  const inode = inodeOf(path)
  const db = openDatabase(path, format, { cacheKib: 256, make: true })
  try {
    const live = db.prepare<[], [model: string, version: number, build: string]>('SELECT * FROM live').raw()
    const filling = db.prepare<[], PendingBuildRow>('SELECT * FROM filling').raw()
    const replaceLive = db.prepare('INSERT OR REPLACE INTO live VALUES (?, ?, ?)')
    const insertLive = db.prepare('INSERT OR IGNORE INTO live VALUES (?, ?, ?)')
    const eraseFilling = db.prepare('DELETE FROM filling WHERE build = ?')
    const pointers = cacheUntilChanged(db, turn, () => ({
      live: new Map(live.all().map(([model, version, id]) => [nameOf(model, version), id])),
      filling: new Map(
        filling.all().map(([model, version, id, filled]) => [nameOf(model, version), { id, isCaughtUp: filled === 1 }]),
      ),
    }))
    if (pointers.get().live.size === 0) {
      for (const { model, version, id } of findBuilds(folder)) insertLive.run(model, version, id)
      pointers.invalidate()
    }
    const setLive = db.transaction((model: string, version: number, build: string) => {
      replaceLive.run(model, version, build)
      eraseFilling.run(build)
    })
    return {
      inode: inode ?? inodeOf(path),
      db,
      pointers,
      insertLive,
      recordFilling: db.prepare('INSERT OR REPLACE INTO filling VALUES (?, ?, ?, ?)'),
      eraseFilling,
      setLive: setLive.immediate,
    }
  } catch (error) {
    db.close()
    throw error
  }
}

export const BUILD_FILE_NAME = /^read-(.+)-v(\d+)-([0-9a-f]+)\.db$/

type FoundBuild = { readonly model: string; readonly version: number; readonly id: string }

/** Not the id of any build, so the model counts as lost, and is rebuilt. */
const LOST = 'lost'

/** The builds that were live, for an index that was lost. Of several builds of a model, any may be incomplete. */
function findBuilds(folder: string): FoundBuild[] {
  const found = new Map<string, FoundBuild>()
  for (const name of readdirSync(folder)) {
    const [, model = '', version = '', id = ''] = BUILD_FILE_NAME.exec(name) ?? []
    if (id === '') continue
    const key = nameOf(model, Number(version))
    found.set(key, { model, version: Number(version), id: found.has(key) ? LOST : id })
  }
  return [...found.values()]
}
