import { closedBy, COPY_STREAM, LOG_STREAM, passes, type Closed } from '../../../domain/installation/moving.ts'
import type { Connection } from './connection.ts'
import type { EncodedAppend } from './encoding.ts'
import { decodeRows } from './rows.ts'

/** A file without events is one that has just begun to be filled. */
const BEGUN = { type: 'CopyBegun', data: {} }

/** Whether the log takes no writes, and why. */
export function closedOf(connection: Connection): Closed | undefined {
  const log = decodeRows(connection.newest.all(LOG_STREAM, 1))
  const copy = decodeRows(connection.stream.all(COPY_STREAM))
  return closedBy(log[0], log.length + copy.length === 0 ? [BEGUN] : copy)
}

/**
 * Looked at in each write transaction: whatever is committed after a fence has seen it. It is asked of the file only
 * where somebody else has written since this process did, which the last position tells, as positions have no gaps.
 */
export class Fence {
  #known: { readonly head: number; readonly closed: Closed | undefined } | undefined

  /** @param head the log's last position, as it is in this transaction */
  closed(connection: Connection, head: number): Closed | undefined {
    if (this.#known?.head !== head) this.#known = { head, closed: closedOf(connection) }
    return this.#known.closed
  }

  /** Told of each commit. */
  moved(streams: readonly string[], head: number): void {
    const decided = streams.some((stream) => stream === LOG_STREAM || stream === COPY_STREAM)
    this.#known = decided || this.#known === undefined ? undefined : { ...this.#known, head }
  }
}

export const refuses = (closed: Closed | undefined, appends: readonly EncodedAppend[]): closed is Closed =>
  closed !== undefined &&
  !appends.every(({ stream, events }) =>
    passes(
      closed,
      stream,
      events.map(({ event }) => event.type),
    ),
  )
