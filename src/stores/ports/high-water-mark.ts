import type { Position } from './event-store.ts'

/**
 * The newest event of the log that a folder's processes have seen, beside the log: a log that was put back to a backup
 * does not know of it. Adapter: folder/high-water-mark.ts.
 */
export type LogHighWaterMark = {
  /** The log's identity, and its epoch (projections/engine/checkpoint.ts). */
  readonly log: string
  readonly event: { readonly id: string; readonly position: Position } | null
  /** Where the installation was moved to. */
  readonly fence: { readonly copy: string; readonly to: string } | null
}

export interface HighWaterMarkStore {
  /** undefined where nothing was seen, or what was can't be read any more. */
  read(): LogHighWaterMark | undefined
  /** @throws the file system's error */
  save(seen: LogHighWaterMark): void
}
