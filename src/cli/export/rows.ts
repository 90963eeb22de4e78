import { diamondDecider, diamondStream, type LiveDiamond } from '../../domain/diamond/diamond.ts'
import { load } from '../../commands/core/load.ts'
import { FIELDS, fieldsOf } from '../../domain/diamond/fields.ts'
import { isoDate, writeOf } from '../../representations/diamond/body.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import { guarded } from '../formula-cells.ts'

/** How stones are written: cells under a header, or a JSON object a line. */
export type Format = 'csv' | 'jsonl'

const MEMBERS = fieldsOf('v4').map((name) => ({ name, write: writeOf(FIELDS[name], 'v4') }))

/** Streams that are read at a time. */
const AT_ONCE = 100

/**
 * The text of a file with these diamonds, in v4 names and values, piece by piece. What was deleted meanwhile is not in it.
 * @throws StoreUnavailable; NewerSchema, BrokenEvent: a file without a stone that is there would be taken for all
 */
export async function* rowsOf(store: EventStore, ids: readonly number[], format: Format): AsyncGenerator<string> {
  const row = ROWS[format]
  if (format === 'csv') yield line(['id', ...MEMBERS.map(({ name }) => name), 'date'])
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const loading = ids.slice(from, from + AT_ONCE).map((id) => load(store, diamondStream(id), diamondDecider))
    const live = (await Promise.all(loading)).flatMap(({ state }) => (state.status === 'live' ? [state] : []))
    if (live.length > 0) yield live.map(row).join('')
  }
}

const ROWS: Readonly<Record<Format, (diamond: LiveDiamond) => string>> = {
  csv: ({ id, fields, date }) => {
    const cells = MEMBERS.map(({ name, write }) => JSON.parse(write(fields[name])) as Cell)
    return line([id, ...cells, isoDate(date)])
  },
  jsonl: ({ id, fields, date }) => {
    const members = MEMBERS.map(({ name, write }) => `"${name}":${write(fields[name])}`)
    return `{"id":${id},${members.join(',')},"date":"${isoDate(date)}"}\n`
  },
}

type Cell = string | number | boolean | null

const line = (cells: readonly Cell[]) => `${cells.map(cellText).join(',')}\r\n`

/** RFC 4180: in quotes where it would else be read as more than one, or as none. An import reads the same text of it. */
function cellText(cell: Cell): string {
  if (cell === null) return ''
  const text = typeof cell === 'string' ? guarded(cell) : String(cell)
  return /[",;\t\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
