import { REQUIRED } from '../../domain/diamond/fields.ts'
import { readersOf } from '../../domain/diamond/readers.ts'
import { nearest } from '../../domain/dictionaries/nearest.ts'
import { BadUsage } from '../failure.ts'

/** What each column of a spreadsheet holds; undefined for one that is left out. */
export type Columns = readonly (string | undefined)[]

const FIELDS = [...readersOf('v4').keys()]
/** The service assigns these itself. */
const IGNORED: ReadonlySet<string> = new Set(['id', 'date'])

/**
 * The v4 fields that a header names, in any case.
 * @throws BadUsage for a column that is no field, one that comes twice, or a required one that is missing
 */
export function readHeader(header: readonly string[], unknown: 'refused' | 'ignored'): Columns {
  const columns = header.map((heading) => fieldOf(heading, unknown))
  const twice = columns.find((name, index) => name !== undefined && columns.indexOf(name) !== index)
  if (twice !== undefined) throw new BadUsage(`The header names ${twice} twice`)
  const missing = REQUIRED.filter((name) => !columns.includes(name))
  if (missing.length > 0) throw new BadUsage(`The header lacks ${missing.join(', ')}, without which there is no stone`)
  return columns
}

function fieldOf(heading: string, unknown: 'refused' | 'ignored'): string | undefined {
  const wanted = heading.trim().toLowerCase()
  const field = FIELDS.find((name) => name.toLowerCase() === wanted)
  if (field !== undefined || IGNORED.has(wanted) || unknown === 'ignored') return field
  const near = nearest(wanted, FIELDS)
  const hint = near === undefined ? '' : `; did you mean ${near}?`
  throw new BadUsage(
    `The column ${heading.slice(0, 60)} is no field of a v4 diamond${hint} (--ignore-unknown leaves it out)`,
  )
}
