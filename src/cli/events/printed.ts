import { shownEvent } from '../../events/shown-event.ts'
import type { Position, StoredEvent } from '../../stores/ports/event-store.ts'

/** A position as one text: one number, or on stores whose positions are two, `commit/prepare`. */
const shownPosition = ({ commit, prepare }: Position): string =>
  commit === prepare ? `${commit}` : `${commit}/${prepare}`

/** One event as a line of JSON. `undecoded` says why this release does not understand it, and is there only then. */
export function asJson(event: StoredEvent): string {
  const { position, stream, revision, id, type, metadata } = event
  const { at, actor } = metadata
  const { data, undecoded } = shownEvent(event)
  const place = { position: shownPosition(position), stream, revision: Number(revision), id, type }
  return JSON.stringify({ ...place, at, actor, data, metadata, undecoded })
}

/** Nobody knows what comes: columns have the width of what they hold most often, and grow where they have to. */
const COLUMNS: readonly (readonly [heading: string, width: number])[] = [
  ['position', 8],
  ['at', 24],
  ['stream', 16],
  ['type', 21],
  ['who', 18],
  ['data', 0],
]

const row = (cells: readonly string[]) => cells.map((cell, column) => cell.padEnd(COLUMNS[column]?.[1] ?? 0)).join('  ')

export const HEADINGS = row(COLUMNS.map(([heading]) => heading))

/** One event as a row of a table. */
export function asRow(event: StoredEvent): string {
  const { position, stream, revision, type, metadata } = event
  const { data, undecoded } = shownEvent(event)
  const who = `${metadata['actor'] ?? '?'} via ${metadata['via'] ?? '?'}`
  const said = `${JSON.stringify(data)}${undecoded === undefined ? '' : `  NOT UNDERSTOOD: ${undecoded}`}`
  return row([shownPosition(position), metadata['at'] ?? '', `${stream}@${revision}`, type, who, said])
}
