import type { Installation } from '../../wiring/installation.ts'
import type { Settings } from '../../wiring/settings.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import type { Files } from '../../stores/ports/files.ts'

/** The composition root's ways to what a backup is made of, and to a folder that is restored. */
export type Backups = {
  /** Files under their digests in a folder that is a backup's. */
  openFiles(folder: string): Files
  /** Copies the embedded log of an installation as it is at one moment, beside whoever writes it. */
  copyLog(settings: Settings, to: string, progress: (done: number, total: number) => void): Promise<void>
  /** A copy of a log, to be read. */
  openLog(file: string): EventStore
  /** Makes a copy that was closed one file, on the disk. @throws StoreUnavailable where it is damaged */
  settleLog(file: string): void
  /** Makes a file or a folder last. */
  sync(path: string): void
  /** @throws StoreUnavailable while another process has the folder open */
  replaceLog(settings: Settings, log: string | undefined): Promise<Replacing>
}

/** What a log said before another one takes its place. */
export type Before = {
  readonly identity: string
  readonly epoch: number
  /** Where its installation was moved to. */
  readonly fence: { readonly copy: string; readonly to: string } | undefined
}

/** A folder that this process has for itself, whose log is about to be replaced. Until then nothing of it has changed. */
export type Replacing = {
  /** Its log is the one that comes, a copy still beside its place; it takes appends whatever it says of itself. */
  readonly installation: Installation
  readonly before: Before | { readonly unreadable: string } | 'none'
  /**
   * Puts the log in its place, in one step. The one that was there stays beside it.
   * @param kept what is put behind its name
   */
  replace(kept: string): Promise<void>
  /** Gives the folder back; what was not put in its place is gone. */
  close(): Promise<void>
}
