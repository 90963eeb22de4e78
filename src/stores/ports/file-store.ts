import type { Readable } from 'node:stream'

/**
 * The files port: certificates' PDFs by the SHA-256 of their bytes, so that the same report is kept once.
 * Adapters: folder/files.ts, mongodb/files.ts (GridFS). Both pass test/contract/files.ts.
 *
 * What is here says nothing about what may be read: only the log does. A file that no certification refers to is
 * collected (file-garbage-collector.ts) once nobody has touched it for a while. Whoever is about to write an event that refers
 * to a file holds it until the event is durable, and ensures it then: held files are touched again and again, so that no
 * collector of any process takes them, and one that was taken from a process that stood still is put back.
 *
 * No time of one machine is ever compared with another's. A touch changes the file's mark; for how long the mark has
 * stayed the same is for its observer to see, by its own clock.
 */
export interface FileStore {
  /** Made with them, and theirs wherever they are moved as they are. @throws StoreUnavailable */
  identity(): Promise<string>
  /** Begins a file in a temporary place. @throws StoreUnavailable */
  receive(): Promise<FileUpload>
  /**
   * A file's bytes, or those from `start` to `end`, both included.
   * @returns undefined where there is no such file
   * @throws StoreUnavailable
   */
  read(digest: string, range?: { readonly start: number; readonly end: number }): Promise<Readable | undefined>
  /** Every file there is, in no particular order. */
  list(): AsyncIterable<FileEntry>
  /** The mark of a file's last touch; undefined where there is no such file. */
  readTouchToken(digest: string): Promise<string | undefined>
  /**
   * Removes a file whose mark is still the one that was seen.
   * @returns touched where it was touched since, and stays
   */
  remove(digest: string, mark: string): Promise<'removed' | 'touched' | 'missing'>
  /** What uploads and removals have under way, or left when their process ended. */
  temporaryFiles(): AsyncIterable<TemporaryFile>
  /**
   * Clears one away that is still as it was seen, which is for whoever has seen it so for as long as it says.
   * @returns true for an upload that nobody will finish
   */
  removeTemporaryFile(leftover: TemporaryFile): Promise<boolean>
  /** Ends the touching. What is still incoming is a leftover from now on. */
  close(): Promise<void>
}

/**
 * Bytes are not there, though the log has what they belong to: a certification's file, a waiting secret's entry. The store
 * was lost, or is another installation's.
 */
export class BytesMissing extends Error {
  override readonly name = 'BytesMissing'
}

/** A file on its way in. Nobody sees it before `keep`. */
export interface FileUpload {
  /** Resolves when the bytes are written, so that a sender is not read faster than the disk writes. */
  write(chunk: Uint8Array): Promise<void>
  /**
   * Makes the file durable and puts it where it is read from, held. No bytes may follow.
   * @throws StoreUnavailable
   */
  keep(): Promise<StoredFile>
  /** Leaves nothing behind; after `keep` it does nothing. */
  discard(): Promise<void>
}

export type StoredFile = {
  readonly digest: string
  readonly bytes: number
  /**
   * For when the event that names the file is durable: touches it once more, and puts it back where a collector has taken
   * it meanwhile, since its holder stood still for too long. After this only the end of its last use lets it go.
   * @throws StoreUnavailable
   */
  ensureStored(): Promise<void>
  /** Ends the hold: from now on only a certification's event keeps the file. */
  release(): void
}

/** mark: changes with every touch, and says nothing else. */
export type FileEntry = { readonly digest: string; readonly touchToken: string }

/**
 * name: of the adapter's own. patience: milliseconds for which its mark must have stayed the same before it goes.
 * back: the digest of a file whose removal was broken off: it is put back, and whoever collects has to look at it again.
 */
export type TemporaryFile = {
  readonly name: string
  readonly touchToken: string
  readonly abandonedAfterMs: number
  readonly restoredDigest?: string
}

/** Milliseconds without a touch after which an upload has no process any more. */
export const UPLOAD_ABANDONED_AFTER_MS = 10_000

/** Milliseconds between two touches of a held or incoming file. */
export const TOUCH_INTERVAL_MS = 250

/** Pictures that were drawn, each under a key that says all it depends on: found again by other processes, and after a restart. */
export type PictureStore = {
  readonly get: (key: string) => Promise<Uint8Array | undefined>
  readonly put: (key: string, png: Uint8Array) => Promise<void>
}
