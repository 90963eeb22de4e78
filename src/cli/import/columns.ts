import { REQUIRED } from '../../domain/diamond/fields.ts'
import { nearest } from '../../domain/dictionaries/nearest.ts'
import { BadUsage } from '../failure.ts'
import { fieldsOf } from '../../representations/diamond/readers.ts'
import { WORDS, type Words } from '../../representations/diamond/words.ts'

/** What each column of a spreadsheet holds; undefined for one that is left out. */
export type Columns = readonly (string | undefined)[]

const FIELDS: readonly string[] = fieldsOf('v4')

/** A heading as it is compared with those of trade spreadsheets: `Stock #` is `stock`. */
const plain = (heading: string) => heading.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

/** What trade spreadsheets call the fields. */
const TRADE: ReadonlyMap<string, string> = new Map(
  Object.entries<Words>(WORDS)
    .filter(([name]) => FIELDS.includes(name))
    .flatMap(([name, { headings = [] }]) => headings.map((heading) => [plain(heading), name] as const)),
)

/** What a column is said to be on the command line, by its heading; `undefined` leaves it out. */
export type Mapping = ReadonlyMap<string, string | undefined>

/** `Lot=sku`, `Remark=`. @throws BadUsage for a field that there is none of */
export function readMapping(words: readonly string[]): Mapping {
  return new Map(
    words.map((word) => {
      const at = word.lastIndexOf('=')
      if (at < 1) throw new BadUsage(`--map ${word}: write COLUMN=FIELD, or COLUMN= to leave it out`)
      const [heading, given] = [plain(word.slice(0, at)), word.slice(at + 1).trim()]
      if (given === '') return [heading, undefined]
      const field = FIELDS.find((name) => name.toLowerCase() === given.toLowerCase())
      if (field !== undefined) return [heading, field]
      throw new BadUsage(`--map ${word}: ${given} is no field of a v4 diamond; there are ${FIELDS.join(', ')}`)
    }),
  )
}

/** The service assigns these itself. */
const IGNORED: ReadonlySet<string> = new Set(['id', 'date'])

/**
 * The v4 fields that a header names, in any case, or as trade spreadsheets call them.
 * @throws BadUsage for a column that is no field, one that comes twice, or a required one that is missing
 */
export function readHeader(
  header: readonly string[],
  unknown: 'refused' | 'ignored',
  mapping: Mapping = new Map(),
): Columns {
  for (const heading of mapping.keys()) {
    if (!header.some((one) => plain(one) === heading))
      throw new BadUsage(`--map names a column that is not there; there are ${header.join(', ')}`)
  }
  const own = (heading: string) => FIELDS.find((name) => name.toLowerCase() === heading.trim().toLowerCase())
  const named = header.map((heading) => (mapping.has(plain(heading)) ? mapping.get(plain(heading)) : own(heading)))
  // A field's own name goes before what the trade calls it: the other column is then something else.
  const columns = header.map((heading, index) =>
    mapping.has(plain(heading)) ? named[index] : (named[index] ?? fieldOf(heading, named, unknown)),
  )
  const twice = columns.find((name, index) => name !== undefined && columns.indexOf(name) !== index)
  if (twice !== undefined) throw new BadUsage(`The header names ${twice} twice`)
  const missing = REQUIRED.filter((name) => !columns.includes(name))
  if (missing.length > 0) throw new BadUsage(`The header lacks ${missing.join(', ')}, without which there is no stone`)
  return columns
}

function fieldOf(heading: string, named: Columns, unknown: 'refused' | 'ignored'): string | undefined {
  const field = TRADE.get(plain(heading))
  if (field !== undefined && !named.includes(field)) return field
  const wanted = heading.trim().toLowerCase()
  if (IGNORED.has(wanted) || unknown === 'ignored') return undefined
  const near = nearest(wanted, FIELDS)
  const hint = near === undefined ? '' : `; did you mean ${near}?`
  throw new BadUsage(
    `The column ${heading.slice(0, 60)} is no field of a v4 diamond${hint} (--ignore-unknown leaves it out)`,
  )
}
