import { setImmediate as nextTick } from 'node:timers/promises'
import type { Filter, StoredEvent } from '../../ports/event-store.ts'
import type { LogFile } from './connection.ts'
import { decodeRows } from './rows.ts'

/** Positions a page: what is read between two turns of the event loop. */
export const PAGE = 1000

/** @throws StoreUnavailable */
export function readStream(log: LogFile, stream: string, last: number | undefined): StoredEvent[] {
  return log.use((connection) => {
    if (last === undefined) return decodeRows(connection.stream.all(stream))
    return decodeRows(connection.newest.all(stream, last).reverse())
  })
}

/** @throws StoreUnavailable */
export function readPage(log: LogFile, from: number, to: number, filter: Filter | undefined): StoredEvent[] {
  return log.use((connection) => decodeRows(connection.page(from, to, filter?.prefixes)))
}

/** Every page is a statement of its own, so that no long read holds up checkpoints. */
export async function* readPages(
  log: LogFile,
  from: number,
  to: number,
  filter: Filter | undefined,
): AsyncGenerator<StoredEvent> {
  for (let start = from; start < to; start += PAGE) {
    if (start > from) await nextTick()
    yield* readPage(log, start, Math.min(start + PAGE, to), filter)
  }
}
