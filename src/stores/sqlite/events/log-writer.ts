import { COPY_STREAM, LOG_STREAM, type ReadOnlyState } from '../../../domain/installation/read-only-state.ts'
import { deriveClosedReason, refusalOf } from '../../log/fence.ts'
import type { Revision } from '../../ports/event-store.ts'
import type { FileWriter, SqliteFileFormat } from '../database-file.ts'
import { connect, copiedLogFormat, LOG_DAMAGE_REMEDY, type EventLogConnection } from './connection.ts'
import type { EncodedAppend } from './encoding.ts'
import { decodeRows, rowsOf, type SqliteEventRow } from './rows.ts'

/** What became of one append of a call. If the last one of the call was refused, none was stored. */
export type AppendOutcome =
  | { readonly kind: 'written' | 'repeated'; readonly last: number }
  | { readonly kind: 'wrong revision'; readonly actual: Revision }
  | { readonly kind: 'closed'; readonly reason: ReadOnlyState }

/** The appends of one call, all or nothing. */
export type AppendCall = readonly EncodedAppend[]

/** Writes appends to the log. A fence does not apply to a log that another one is copied into. */
export const logWriter = (
  format: SqliteFileFormat,
): FileWriter<EventLogConnection, AppendCall, readonly AppendOutcome[]> => ({
  connect: (path) => connect(path, format),
  damageRemedy: LOG_DAMAGE_REMEDY,
  write(connection, calls) {
    const closedReason = format === copiedLogFormat ? undefined : readClosedReason(connection)
    let head = connection.lastPosition.get() ?? 0
    return calls.map((appends) => {
      if (isRefused(closedReason, appends)) return [{ kind: 'closed', reason: closedReason }]
      const outcomes = writeAppends(connection, appends, head)
      head = lastWritten(outcomes) ?? head
      return outcomes
    })
  },
})

/** The position of the last event that a call has stored. */
export function lastWritten(outcomes: readonly AppendOutcome[]): number | undefined {
  if (outcomes.at(-1)?.kind === 'wrong revision') return undefined
  return outcomes.flatMap((outcome) => (outcome.kind === 'written' ? [outcome.last] : [])).at(-1)
}

/** Read in the append's own transaction: an append committed after a fence always sees it. */
function readClosedReason(connection: EventLogConnection): ReadOnlyState | undefined {
  const [last] = decodeRows(connection.newest.all(LOG_STREAM, 1))
  return deriveClosedReason(last, decodeRows(connection.stream.all(COPY_STREAM)), 'filling')
}

const isRefused = (closedReason: ReadOnlyState | undefined, appends: AppendCall): closedReason is ReadOnlyState =>
  appends.some(({ stream, events }) => {
    const types = events.map(({ type }) => type)
    return refusalOf(closedReason, stream, types) !== undefined
  })

/**
 * Writes the appends of one call after position `head`, all or nothing, inside the open transaction. The first event of
 * an append detects a conflict before anything is written, so a single append needs no savepoint.
 */
function writeAppends(connection: EventLogConnection, appends: AppendCall, head: number): AppendOutcome[] {
  if (appends.length > 1) connection.savepoint.run()
  const outcomes: AppendOutcome[] = []
  let last = head
  for (const append of appends) {
    const outcome = writeAppend(connection, append, last)
    outcomes.push(outcome)
    if (outcome.kind === 'wrong revision') break
    if (outcome.kind === 'written') last = outcome.last
  }
  if (appends.length > 1) {
    if (outcomes.at(-1)?.kind === 'wrong revision') connection.undo.run()
    connection.release.run()
  }
  return outcomes
}

function writeAppend(connection: EventLogConnection, append: EncodedAppend, head: number): AppendOutcome {
  const [first, ...others] = rowsOf(append, head)
  if (first === undefined || !writeFirst(connection, append.expected, first)) return outcomeOfRepeat(connection, append)
  for (const row of others) connection.insert.run(...row)
  return { kind: 'written', last: head + 1 + others.length }
}

function writeFirst(
  { insertFirst, insertAfter }: EventLogConnection,
  expected: Revision,
  row: SqliteEventRow,
): boolean {
  if (expected === 'none') return insertFirst.run(...row).changes > 0
  return insertAfter.run(...row, row[1], row[2] - 1).changes > 0
}

/** The stream is past the expected revision: it contains either these events already or others. */
function outcomeOfRepeat(connection: EventLogConnection, append: EncodedAppend): AppendOutcome {
  const { stream, firstRevision, events } = append
  const stored = connection.stored.all(stream, firstRevision, firstRevision + events.length - 1)
  const rows = rowsOf(append, 0)
  const isRepeat = stored.length === rows.length && stored.every(([, id], index) => rows[index]?.[3].equals(id))
  const last = stored.at(-1)
  if (isRepeat && last !== undefined) return { kind: 'repeated', last: last[0] }
  const revision = connection.lastRevision.get(stream) ?? undefined
  return { kind: 'wrong revision', actual: revision === undefined ? 'none' : BigInt(revision) }
}
