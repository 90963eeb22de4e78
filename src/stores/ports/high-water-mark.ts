import type { Position } from './event-store.ts'

/**
 * The newest event that the processes of this folder have seen, stored outside the log: a log restored from a backup
 * does not contain that event. Adapter: folder/high-water-mark.ts.
 */
export type LogHighWaterMark = {
  /** The log's identity and epoch (events/lineage.ts). */
  readonly log: string
  readonly event: { readonly id: string; readonly position: Position } | null
  readonly fence: { readonly copy: string; readonly to: string } | null
}

export interface HighWaterMarkStore {
  /** Undefined if nothing was saved yet or the file is unreadable. */
  read(): LogHighWaterMark | undefined
  /** @throws the file system's error */
  save(highWaterMark: LogHighWaterMark): void
}
