import { readEpoch } from '../events/lineage.ts'
import { LOG_FILE, VAULT_FILE } from './store-engines.ts'
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
import { hasContent } from '../stores/sqlite/events/connection.ts'
import { UnreadableFile } from '../stores/sqlite/database-file.ts'
import { putDamagedVaultAside } from '../stores/sqlite/vault/vault-file.ts'
import { makeDataDir, openInstallationOn, RESTORE_FOLDER } from './open-installation.ts'

/** Files by digest in a backup's folder. */
export const openFilesIn = openDirectoryFileStore

/**
 * Copies an installation's embedded log in its state at one moment, while the service may be writing. @param progress
 * in pages
 */
export const copyLogOf = (
  { DATA_DIR }: Settings,
  targetFile: string,
  progress: (done: number, total: number) => void,
): Promise<void> => copyEventLogFile(join(DATA_DIR, LOG_FILE), targetFile, progress)

/** Opens a copy of a log for reading. */
export const openLogCopy = (file: string): EventStore => openSqliteEventStore(file, { isCopyTarget: true })

/** Flushes a file or a folder to the disk. */
export const syncPath = fsyncPath

/** Turns a closed copy into a single file, flushed to the disk. @throws StoreUnavailable if it is damaged */
export { finalizeLogFile }

/** Facts about the log that is being replaced. */
export type ReplacedLog = {
  readonly identity: string
  readonly epoch: number
  /** The installation to which it was moved, if any. */
  readonly fence: { readonly copy: string; readonly to: string } | undefined
}

/** An exclusively locked folder whose log is about to be replaced. Nothing changes before `replace`, except a damaged vault. */
export type LogReplacement = {
  /** Opened on a copy of the new log, outside its final place; accepts appends even if the log is marked as closed. */
  readonly installation: Installation
  readonly previousLog: ReplacedLog | { readonly unreadable: string } | 'none'
  /** The new name of a vault that was damaged; a new one replaces it. Undefined if it was intact. */
  readonly damagedVault: string | undefined
  /**
   * Puts the new log into its place atomically. The previous one is kept in the folder under another name.
   * @param suffix of that name
   */
  replace(suffix: string): Promise<void>
  /** Releases the folder; discards a copy that was not put into its place. */
  close(): Promise<void>
}

/**
 * Locks a folder exclusively and stages the log that is to replace its own.
 * @param log undefined if the log is already in its place
 * @throws StoreUnavailable while another process has the folder open
 */
export async function prepareLogReplacement(settings: Settings, log: string | undefined): Promise<LogReplacement> {
  const folder = resolve(settings.DATA_DIR)
  makeDataDir(folder)
  const lock = lockFolderExclusive(folder)
  const file = join(folder, LOG_FILE)
  const stagingFolder = join(folder, RESTORE_FOLDER)
  try {
    // Releases without the folder lock are detected by their open log file.
    if (existsSync(file) && isOpenSomewhere(file))
      throw new StoreUnavailable(`Another process has ${file} open: stop it`)
    const previousLog = hasContent(file) ? await describeReplacedLog(file) : 'none'
    const stagedFile = log === undefined ? file : join(stagingFolder, LOG_FILE)
    const damagedVault = putDamagedVaultAside(join(folder, VAULT_FILE))
    if (log !== undefined) stageLog(log, stagingFolder, stagedFile)
    const installation = await openInstallationOn(settings, async () => {
      const store = openSqliteEventStore(stagedFile, { isCopyTarget: true })
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
      damagedVault,
      async replace(suffix) {
        await installation.store.close()
        finalizeLogFile(stagedFile)
        if (stagedFile !== file) swapLogFile(stagedFile, file, suffix)
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

/** An unreadable log may be the reason for the restore. */
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
 * The previous log gets another name by a hard link, and a rename replaces it by the new one: there is always a
 * log, and none with the other's WAL.
 */
function swapLogFile(stagedFile: string, file: string, suffix: string): void {
  if (hasContent(file)) linkWithWal(file, `${file}.${suffix}`)
  else keepWal(file, `${file}.${suffix}`)
  renameSync(stagedFile, file)
  fsyncPath(join(file, '..'))
}

/** Gives a log file another name. Its WAL is checkpointed into it first; if that fails, the WAL is linked too. */
function linkWithWal(file: string, name: string): void {
  const isCheckpointed = isWalCheckpointed(file)
  linkIfMissing(file, name)
  if (isCheckpointed) return
  if (existsSync(`${file}-wal`)) linkIfMissing(`${file}-wal`, `${name}-wal`)
  for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true })
}

/** A write-ahead log without its file: SQLite would apply it to the file that replaces it. */
function keepWal(file: string, name: string): void {
  if (existsSync(`${file}-wal`)) renameSync(`${file}-wal`, `${name}-wal`)
  rmSync(`${file}-shm`, { force: true })
}

/** A run that was interrupted right afterwards, in the same second, has linked the file already. */
function linkIfMissing(file: string, name: string): void {
  if (existsSync(name) && statSync(name).ino === statSync(file).ino) return
  linkSync(file, name)
}

/** False for a damaged file, for example, which may be the reason for the restore. */
function isWalCheckpointed(file: string): boolean {
  try {
    finalizeLogFile(file)
    return true
  } catch {
    return false
  }
}
