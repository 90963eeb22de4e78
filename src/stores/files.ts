import type { Readable } from 'node:stream'

/**
 * The files port: certificates' PDFs by the SHA-256 of their bytes, so that the same report is kept once.
 * Adapters: directory-files.ts, mongodb/files.ts (GridFS). Both pass test/contract/files.ts.
 *
 * What is here says nothing about what may be read: only the log does. A file that no certification refers to is
 * collected (file-collector.ts) once nobody has touched it for a while. Whoever is about to write an event that refers
 * to a file holds it until the event is durable: held files are touched again and again, so that no collector of any
 * process takes them.
 */
export interface Files {
  /** Begins a file in a temporary place. @throws StoreUnavailable */
  receive(): Promise<Incoming>
  /**
   * A file's bytes, or those from `start` to `end`, both included.
   * @returns undefined where there is no such file
   * @throws StoreUnavailable
   */
  read(digest: string, range?: { readonly start: number; readonly end: number }): Promise<Readable | undefined>
  /** Every file there is, in no particular order. */
  list(): AsyncIterable<Listed>
  /**
   * Removes a file that was last touched at `before` (milliseconds since 1970) or earlier.
   * @returns touched where it was touched since, and stays
   */
  remove(digest: string, before: number): Promise<'removed' | 'touched' | 'missing'>
  /** Removes what unfinished uploads of ended processes left, last touched at `before` or earlier. @returns how many */
  removeLeftovers(before: number): Promise<number>
  /** Ends the touching. What is still incoming is a leftover from now on. */
  close(): Promise<void>
}

/** A file on its way in. Nobody sees it before `keep`. */
export interface Incoming {
  /** Resolves when the bytes are written, so that a sender is not read faster than the disk writes. */
  write(chunk: Uint8Array): Promise<void>
  /**
   * Makes the file durable and puts it where it is read from, held. No bytes may follow.
   * @throws StoreUnavailable
   */
  keep(): Promise<Kept>
  /** Leaves nothing behind; after `keep` it does nothing. */
  discard(): Promise<void>
}

export type Kept = {
  readonly digest: string
  readonly bytes: number
  /** Ends the hold: from now on only a certification's event keeps the file. */
  release(): void
}

/** touched: milliseconds since 1970. */
export type Listed = { readonly digest: string; readonly touched: number }

/** Milliseconds between two touches of a held or incoming file. */
export const TOUCH_INTERVAL = 250
