import { readEpoch } from '../events/lineage.ts'
import { LOG_FILE } from './engines.ts'
import { copyFileSync, existsSync, linkSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Installation } from './installation.ts'
import type { Settings } from './settings.ts'
import { openDirectoryFiles } from '../stores/folder/files.ts'
import { StoreUnavailable, type EventStore } from '../stores/ports/event-store.ts'
import { takeFolder } from '../stores/folder/lock.ts'
import { isOpenSomewhere } from '../stores/sqlite/documents/file.ts'
import { openSqliteEvents } from '../stores/sqlite/events.ts'
import { copyLog, settleLog, sync } from '../stores/sqlite/events/copying.ts'
import { UnreadableFile } from '../stores/sqlite/file.ts'
import { makeDataDir, openOn, RESTORING } from './open-installation.ts'

/** Files under their digests in a folder that is a backup's. */
export const openFilesIn = openDirectoryFiles

/** Copies the embedded log of an installation as it is at one moment, beside whoever writes it. @param progress in pages */
export const copyLogOf = (
  { DATA_DIR }: Settings,
  to: string,
  progress: (done: number, total: number) => void,
): Promise<void> => copyLog(join(DATA_DIR, LOG_FILE), to, progress)

/** A copy of a log, to be read. */
export const openLogCopy = (file: string): EventStore => openSqliteEvents(file, { filling: true })

/** Makes a file or a folder last. */
export const syncPath = sync

/** Makes a copy that was closed one file, on the disk. @throws StoreUnavailable where it is damaged */
export { settleLog }

/** What a log said before another one takes its place. */
export type ReplacedLog = {
  readonly identity: string
  readonly epoch: number
  /** Where its installation was moved to. */
  readonly fence: { readonly copy: string; readonly to: string } | undefined
}

/** A folder that this process has for itself, whose log is about to be replaced. Until then nothing of it has changed. */
export type Replacing = {
  /** Its log is the one that comes, a copy still beside its place; it takes appends whatever it says of itself. */
  readonly installation: Installation
  readonly before: ReplacedLog | { readonly unreadable: string } | 'none'
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
export async function replaceLog(settings: Settings, log: string | undefined): Promise<Replacing> {
  const folder = resolve(settings.DATA_DIR)
  makeDataDir(folder)
  const lock = takeFolder(folder)
  const file = join(folder, LOG_FILE)
  const aside = join(folder, RESTORING)
  try {
    // A release before the folder's lock shows itself by the log alone.
    if (existsSync(file) && isOpenSomewhere(file))
      throw new StoreUnavailable(`Another process has ${file} open: stop it`)
    const before = existsSync(file) ? await said(file) : 'none'
    const coming = log === undefined ? file : join(aside, LOG_FILE)
    if (log !== undefined) stage(log, aside, coming)
    const installation = await openOn(settings, () => {
      const store = openSqliteEvents(coming, { filling: true })
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
      before,
      async replace(kept) {
        await installation.store.close()
        settleLog(coming)
        if (coming !== file) putInPlace(coming, file, kept)
      },
      async close() {
        await close()
        rmSync(aside, { recursive: true, force: true })
        lock.release()
      },
    }
  } catch (error) {
    rmSync(aside, { recursive: true, force: true })
    lock.release()
    throw error instanceof UnreadableFile ? new StoreUnavailable(error.message, { cause: error }) : error
  }
}

function stage(log: string, aside: string, coming: string): void {
  rmSync(aside, { recursive: true, force: true })
  mkdirSync(aside, { mode: 0o700 })
  sync(join(aside, '..'))
  copyFileSync(log, coming)
  sync(coming)
}

/** Where nothing can be read, that may be why it is replaced. */
async function said(file: string): Promise<Replacing['before']> {
  let store: EventStore | undefined
  try {
    store = openLogCopy(file)
    const closed = await store.closed()
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
function putInPlace(coming: string, file: string, kept: string): void {
  if (existsSync(file)) {
    keep(file, `${file}.${kept}`)
  }
  renameSync(coming, file)
  sync(join(file, '..'))
}

/** Gives a log another name as well. What its WAL holds goes into it; where that fails, the WAL goes along as it is. */
function keep(file: string, name: string): void {
  const isWhole = isFolded(file)
  link(file, name)
  if (isWhole) return
  if (existsSync(`${file}-wal`)) link(`${file}-wal`, `${name}-wal`)
  for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true })
}

/** A run that was interrupted right behind it, in the same second, has given the file that name already. */
function link(file: string, name: string): void {
  if (existsSync(name) && statSync(name).ino === statSync(file).ino) return
  linkSync(file, name)
}

/** False where it is damaged, say, which may be why it is replaced. */
function isFolded(file: string): boolean {
  try {
    settleLog(file)
    return true
  } catch {
    return false
  }
}
