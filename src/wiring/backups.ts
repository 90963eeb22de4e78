import { readEpoch } from '../events/lineage.ts'
import { LOG_FILE } from './store-engines.ts'
import { copyFileSync, existsSync, linkSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Installation } from './installation.ts'
import type { Settings } from './settings.ts'
import { openDirectoryFileStore } from '../stores/folder/files.ts'
import { StoreUnavailable, type EventStore } from '../stores/ports/event-store.ts'
import { lockFolderExclusive } from '../stores/folder/lock.ts'
import { isOpenSomewhere } from '../stores/sqlite/documents/read-model-file.ts'
import { openSqliteEventStore } from '../stores/sqlite/events.ts'
import { copyEventLogFile, finalizeLogFile, fsyncPath } from '../stores/sqlite/events/copy-log-file.ts'
import { UnreadableFile } from '../stores/sqlite/database-file.ts'
import { makeDataDir, openInstallationOn, RESTORE_FOLDER } from './open-installation.ts'

/** Files under their digests in a folder that is a backup's. */
export const openFilesIn = openDirectoryFileStore

/** Copies the embedded log of an installation as it is at one moment, beside whoever writes it. @param progress in pages */
export const copyLogOf = (
  { DATA_DIR }: Settings,
  to: string,
  progress: (done: number, total: number) => void,
): Promise<void> => copyEventLogFile(join(DATA_DIR, LOG_FILE), to, progress)

/** A copy of a log, to be read. */
export const openLogCopy = (file: string): EventStore => openSqliteEventStore(file, { filling: true })

/** Makes a file or a folder last. */
export const syncPath = fsyncPath

/** Makes a copy that was closed one file, on the disk. @throws StoreUnavailable where it is damaged */
export { finalizeLogFile }

/** What a log said before another one takes its place. */
export type ReplacedLog = {
  readonly identity: string
  readonly epoch: number
  /** Where its installation was moved to. */
  readonly fence: { readonly copy: string; readonly to: string } | undefined
}

/** A folder that this process has for itself, whose log is about to be replaced. Until then nothing of it has changed. */
export type LogReplacement = {
  /** Its log is the one that comes, a copy still beside its place; it takes appends whatever it says of itself. */
  readonly installation: Installation
  readonly previousLog: ReplacedLog | { readonly unreadable: string } | 'none'
  /**
   * Puts the log in its place, in one step. The one that was there stays beside it.
   * @param kept what is put behind its name
   */
  replace(kept: string): Promise<void>
  /** Gives the folder back; what was not put in its place is gone. */
  close(): Promise<void>
}

/**
 * A folder for this process alone, with the log that is to take the place of its own.
 * @param log undefined where it has been put there before
 * @throws StoreUnavailable while another process has the folder open
 */
export async function prepareLogReplacement(settings: Settings, log: string | undefined): Promise<LogReplacement> {
  const folder = resolve(settings.DATA_DIR)
  makeDataDir(folder)
  const lock = lockFolderExclusive(folder)
  const file = join(folder, LOG_FILE)
  const stagingFolder = join(folder, RESTORE_FOLDER)
  try {
    // A release before the folder's lock shows itself by the log alone.
    if (existsSync(file) && isOpenSomewhere(file))
      throw new StoreUnavailable(`Another process has ${file} open: stop it`)
    const previousLog = existsSync(file) ? await describeReplacedLog(file) : 'none'
    const stagedFile = log === undefined ? file : join(stagingFolder, LOG_FILE)
    if (log !== undefined) stageLog(log, stagingFolder, stagedFile)
    const installation = await openInstallationOn(settings, () => {
      const store = openSqliteEventStore(stagedFile, { filling: true })
      return { store, counters: () => store.stats() }
    })
    let closed = false
    const close = async () => {
      if (closed) return
      closed = true
      await installation.close()
    }
    return {
      installation,
      previousLog,
      async replace(kept) {
        await installation.store.close()
        finalizeLogFile(stagedFile)
        if (stagedFile !== file) swapLogFile(stagedFile, file, kept)
      },
      async close() {
        await close()
        rmSync(stagingFolder, { recursive: true, force: true })
        lock.release()
      },
    }
  } catch (error) {
    rmSync(stagingFolder, { recursive: true, force: true })
    lock.release()
    throw error instanceof UnreadableFile ? new StoreUnavailable(error.message, { cause: error }) : error
  }
}

function stageLog(log: string, stagingFolder: string, stagedFile: string): void {
  rmSync(stagingFolder, { recursive: true, force: true })
  mkdirSync(stagingFolder, { mode: 0o700 })
  fsyncPath(join(stagingFolder, '..'))
  copyFileSync(log, stagedFile)
  fsyncPath(stagedFile)
}

/** Where nothing can be read, that may be why it is replaced. */
async function describeReplacedLog(file: string): Promise<LogReplacement['previousLog']> {
  let store: EventStore | undefined
  try {
    store = openLogCopy(file)
    const closed = await store.closedReason()
    const fence = closed?.why === 'fenced' ? { copy: closed.copy, to: closed.to } : undefined
    return { identity: await store.identity(), epoch: await readEpoch(store), fence }
  } catch (error) {
    if (error instanceof UnreadableFile) throw error
    return { unreadable: error instanceof Error ? error.message : String(error) }
  } finally {
    await store?.close()
  }
}

/**
 * The one that was there keeps a name of its own, and its place is taken by a rename: at no moment is there none, and none
 * has the other one's WAL beside it.
 */
function swapLogFile(stagedFile: string, file: string, suffix: string): void {
  if (existsSync(file)) {
    linkWithWal(file, `${file}.${suffix}`)
  }
  renameSync(stagedFile, file)
  fsyncPath(join(file, '..'))
}

/** Gives a log another name as well. What its WAL holds goes into it; where that fails, the WAL goes along as it is. */
function linkWithWal(file: string, name: string): void {
  const isWhole = isWalCheckpointed(file)
  linkIfMissing(file, name)
  if (isWhole) return
  if (existsSync(`${file}-wal`)) linkIfMissing(`${file}-wal`, `${name}-wal`)
  for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true })
}

/** A run that was interrupted right behind it, in the same second, has given the file that name already. */
function linkIfMissing(file: string, name: string): void {
  if (existsSync(name) && statSync(name).ino === statSync(file).ino) return
  linkSync(file, name)
}

/** False where it is damaged, say, which may be why it is replaced. */
function isWalCheckpointed(file: string): boolean {
  try {
    finalizeLogFile(file)
    return true
  } catch {
    return false
  }
}
