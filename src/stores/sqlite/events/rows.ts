import { CorruptEvent, type StoredEvent } from '../../ports/event-store.ts'
import type { EncodedAppend } from './encoding.ts'
import { uuidFromBytes, uuidToBytes } from '../../log/event-serialization.ts'

export type SqliteEventRow = [
  position: number,
  stream: string,
  revision: number,
  id: Buffer,
  type: string,
  data: string,
  metadata: string,
]

/**
 * Caches the last parsed metadata, because neighbouring events of one command share it.
 * @throws CorruptEvent
 */
export function decodeRows(rows: readonly SqliteEventRow[]): StoredEvent[] {
  let text = ''
  let metadata: StoredEvent['metadata'] = {}
  return rows.map((row) => {
    if (row[6] !== text) {
      text = row[6]
      metadata = parseJsonColumn(row, text)
    }
    return {
      id: uuidFromBytes(row[3]),
      type: row[4],
      data: parseJsonColumn(row, row[5]),
      metadata,
      stream: row[1],
      revision: BigInt(row[2]),
      position: positionAt(row[0]),
    }
  })
}

function parseJsonColumn([position, stream, revision]: SqliteEventRow, text: string) {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new CorruptEvent({ stream, revision: BigInt(revision), position: positionAt(position) }, { cause: error })
  }
}

/** @param head position of the last event before the append */
export const rowsOf = ({ stream, firstRevision, events }: EncodedAppend, head: number): SqliteEventRow[] =>
  events.map(({ id, type, data, metadata }, index) => [
    head + 1 + index,
    stream,
    firstRevision + index,
    uuidToBytes(id),
    type,
    data,
    metadata,
  ])

export function positionAt(position: number): { commit: bigint; prepare: bigint } {
  const commit = BigInt(position)
  return { commit, prepare: commit }
}
