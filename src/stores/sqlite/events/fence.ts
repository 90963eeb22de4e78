import { LOG_STREAM, COPY_STREAM, type Closed } from '../../../domain/installation/moving.ts'
import { closedOf, decidesFence, refusalOf } from '../../log/fence.ts'
import type { LogClosed } from '../../ports/event-store.ts'
import type { Connection } from './connection.ts'
import type { EncodedAppend } from './encoding.ts'
import { decodeRows } from './rows.ts'

/**
 * Looked for in each write transaction: whatever is committed after a fence has seen it. It is asked of the file only where
 * somebody else has written since this process did, which the last position tells, as positions have no gaps.
 */
export class TransactionFence {
  #known: { readonly head: number; readonly closed: Closed | undefined } | undefined

  /** @param head the log's last position, as it is in this transaction */
  closed(connection: Connection, head: number): Closed | undefined {
    if (this.#known?.head !== head) this.#known = { head, closed: closedNow(connection) }
    return this.#known.closed
  }

  /** Told of each commit. */
  moved(streams: readonly string[], head: number): void {
    const isDecided = streams.some(decidesFence)
    this.#known = isDecided || this.#known === undefined ? undefined : { ...this.#known, head }
  }
}

function closedNow(connection: Connection): Closed | undefined {
  const [last] = decodeRows(connection.newest.all(LOG_STREAM, 1))
  return closedOf(last, decodeRows(connection.stream.all(COPY_STREAM)), 'is being filled')
}

/** @returns what a call is refused with: none of its appends is stored */
export function refusalOfAll(closed: Closed | undefined, appends: readonly EncodedAppend[]): LogClosed | undefined {
  if (closed === undefined) return undefined
  for (const { stream, events } of appends) {
    const types = events.map(({ event }) => event.type)
    const refusal = refusalOf(closed, stream, types)
    if (refusal !== undefined) return refusal
  }
  return undefined
}
