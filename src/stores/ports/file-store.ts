import type { Readable } from 'node:stream'

/**
 * The file store port: uploaded files, such as certificates' PDFs, addressed by the SHA-256 of their content, so that
 * identical files are stored once.
 * Adapters: folder/files.ts, mongodb/files.ts (GridFS). Both pass test/contract/files.ts.
 *
 * Access rights follow from the event log only, not from a file's presence here. The garbage collector
 * (reactions/files/file-garbage-collector.ts) removes a file that no event refers to once it has not been touched for a
 * grace period. A command that refers to a file acquires it before appending its event, calls `ensureStored` once the
 * event is durable, and releases it afterwards. Acquired files are touched periodically, so collectors of all processes
 * skip them; `ensureStored` restores a file that was collected while its process was suspended.
 *
 * Clocks of different machines are never compared. A touch changes the file's touch token; an observer measures with
 * its own clock how long the token has stayed the same.
 */
export interface FileStore {
  /** Created together with the store; it moves with the store's data. @throws StoreUnavailable */
  identity(): Promise<string>
  /** Starts an upload to a temporary location. @throws StoreUnavailable */
  receive(): Promise<FileUpload>
  /**
   * The file's content. The stream fails with BytesMissing if it ends early.
   * @returns undefined if the file does not exist
   * @throws StoreUnavailable; BytesMissing if the stored file does not have the expected length
   */
  readFile(digest: string, options?: FileReadOptions): Promise<Readable | undefined>
  /** In no particular order. */
  list(): AsyncIterable<FileEntry>
  /** Changes with every touch. Undefined if the file does not exist. */
  readTouchToken(digest: string): Promise<string | undefined>
  /**
   * Removes the file if its touch token is still `touchToken` (compare-and-set).
   * @returns `touched` if the token has changed; the file is kept
   */
  remove(digest: string, touchToken: string): Promise<'removed' | 'touched' | 'missing'>
  /** Unfinished uploads and removals, including those whose process has ended. */
  temporaryFiles(): AsyncIterable<TemporaryFile>
  /**
   * Cleans up one temporary file if its touch token is unchanged. Call it only after the token has stayed the same for
   * `abandonedAfterMs`.
   * @returns true if an abandoned upload was deleted
   */
  removeTemporaryFile(temporaryFile: TemporaryFile): Promise<boolean>
  /** Stops the keep-alive of acquired files. Unfinished uploads become leftovers that any process may remove. */
  close(): Promise<void>
}

export type FileReadOptions = {
  /** Only the bytes from `start` to `end`, both inclusive. */
  readonly range?: { readonly start: number; readonly end: number } | undefined
  /** The length of the whole file, as the event log has it. */
  readonly expectedBytes?: number
}

/**
 * The event log refers to bytes that the store does not have, such as a certification's file or an unread secret's
 * entry: the store was lost, damaged or belongs to another installation.
 */
export class BytesMissing extends Error {
  override readonly name = 'BytesMissing'
}

/** @throws BytesMissing if a file's stored length is not the expected one */
export function requireLength(
  digest: string,
  storedBytes: number,
  { expectedBytes = storedBytes }: FileReadOptions,
): void {
  if (storedBytes === expectedBytes) return
  throw new BytesMissing(
    `The event log refers to file ${digest} with ${expectedBytes} bytes, but the file store has ${storedBytes}`,
  )
}

/** A file being uploaded. It is not visible before `keep`. */
export interface FileUpload {
  /** Resolves once the bytes are written: back-pressure for the sender. */
  write(chunk: Uint8Array): Promise<void>
  /**
   * Makes the file durable and visible, and acquires it. No bytes may be written afterwards.
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
   * Call it once the event that refers to the file is durable. Touches the file and restores it if a collector removed
   * it while this process was suspended. From then on the event keeps the file until nothing refers to it any more.
   * @throws StoreUnavailable
   */
  ensureStored(): Promise<void>
  /** Stops the keep-alive: from now on only an event that refers to the file keeps it. */
  release(): void
}

/**
 * touchToken: an opaque value that changes with every touch.
 * touchedAt: milliseconds since 1970 by the clock of the process that touched it; too inexact for grace periods.
 */
export type FileEntry = { readonly digest: string; readonly touchToken: string; readonly touchedAt: number }

/**
 * name: assigned by the adapter.
 * abandonedAfterMs: milliseconds without a change of the touch token after which the file may be removed.
 * restoredDigest: set for an interrupted removal. Its file is restored, and the garbage collector must check this
 * digest again.
 */
export type TemporaryFile = {
  readonly name: string
  readonly touchToken: string
  readonly abandonedAfterMs: number
  readonly restoredDigest?: string
}

/** Milliseconds without a touch after which an upload counts as abandoned. */
export const UPLOAD_ABANDONED_AFTER_MS = 10_000

/** Milliseconds between two touches of an acquired or incoming file. */
export const TOUCH_INTERVAL_MS = 250

/**
 * A cache of rendered pictures, shared by processes and kept across restarts. A key contains everything its picture
 * depends on.
 */
export type PictureStore = {
  readonly get: (key: string) => Promise<Uint8Array | undefined>
  readonly put: (key: string, png: Uint8Array) => Promise<void>
}
