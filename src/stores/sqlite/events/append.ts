import { WrongRevision, type LogClosed, type Revision } from '../../ports/event-store.ts'
import type { Connection } from './connection.ts'
import type { EncodedAppend } from './encoding.ts'
import type { Row } from './rows.ts'

/** What became of one append: written just now, found to be stored already, or refused. */
export type Outcome =
  | { readonly kind: 'written' | 'repeated'; readonly last: number }
  | { readonly kind: 'refused'; readonly error: WrongRevision | LogClosed }

/**
 * Writes the appends of one call behind position `head`, all or none, inside the transaction that is open.
 * The first event of an append decides: nothing is written before it, so one append alone needs no savepoint.
 */
export function writeAppends(connection: Connection, appends: readonly EncodedAppend[], head: number): Outcome[] {
  if (appends.length > 1) connection.savepoint.run()
  const outcomes: Outcome[] = []
  let last = head
  for (const append of appends) {
    const outcome = writeAppend(connection, append, last)
    outcomes.push(outcome)
    if (outcome.kind === 'refused') break
    if (outcome.kind === 'written') last = outcome.last
  }
  if (appends.length > 1) {
    if (outcomes.at(-1)?.kind === 'refused') connection.undo.run()
    connection.release.run()
  }
  return outcomes
}

function writeAppend(connection: Connection, append: EncodedAppend, head: number): Outcome {
  const { stream, expected, first, events } = append
  let last = head
  for (const { id, event, data, metadata } of events) {
    const row: Row = [last + 1, stream, first + last - head, id, event.type, data, metadata]
    if (last > head) connection.insert.run(...row)
    else if (!writeFirst(connection, expected, row)) return repeatOf(connection, append)
    last++
  }
  return { kind: 'written', last }
}

/** False when the stream is not at the expected revision. */
function writeFirst({ insertFirst, insertBehind }: Connection, expected: Revision, row: Row): boolean {
  if (expected === 'none') return insertFirst.run(...row).changes > 0
  return insertBehind.run(...row, row[1], row[2] - 1).changes > 0
}

/** The stream has moved on: either with these very events, or with others. */
function repeatOf(connection: Connection, { stream, expected, first, events }: EncodedAppend): Outcome {
  const stored = connection.stored.all(stream, first, first + events.length - 1)
  const same = stored.length === events.length && stored.every(([, id], index) => events[index]?.id.equals(id))
  const last = stored.at(-1)
  if (same && last !== undefined) return { kind: 'repeated', last: last[0] }
  const revision = connection.lastRevision.get(stream) ?? undefined
  const actual = revision === undefined ? 'none' : BigInt(revision)
  return { kind: 'refused', error: new WrongRevision(stream, expected, actual) }
}
