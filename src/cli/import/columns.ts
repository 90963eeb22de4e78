import { REQUIRED, type FieldName } from '../../domain/diamond/fields.ts'
import { nearest } from '../../domain/dictionaries/nearest.ts'
import { comparedText } from '../../domain/visible-text.ts'
import { BadUsage } from '../failure.ts'
import { fieldsOf } from '../../representations/diamond/readers.ts'
import { WORDS, type Words } from '../../representations/diamond/words.ts'
import { WITHOUT_FIELD } from './trade-columns.ts'

/** What each column of a spreadsheet holds; undefined for one that is left out. */
export type Columns = readonly (FieldName | undefined)[]

const FIELDS: readonly FieldName[] = fieldsOf('v4')

/** A heading as it is compared with those of trade spreadsheets: `Stock #` is `stock`, `Girdle %` is no `Girdle`. */
const plain = (heading: string) =>
  comparedText(heading)
    .replaceAll('%', 'pct')
    .replaceAll(/[^\p{L}\p{N}]/gu, '')

const wordsOf = (name: FieldName): Words => WORDS[name]

/** What trade spreadsheets call the fields, and the fields' own names in several words, such as `Culet size`. */
const TRADE: ReadonlyMap<string, FieldName> = new Map(
  FIELDS.flatMap((name) => {
    const { headings = [], ends = [] } = wordsOf(name)
    return [name, ...headings, ...ends].map((heading) => [plain(heading), name] as const)
  }),
)

/** Headings of columns that hold an end of a field each. */
const ENDS: ReadonlySet<string> = new Set(FIELDS.flatMap((name) => (wordsOf(name).ends ?? []).map(plain)))

/** The service assigns `id` and `date` itself. */
const LEFT_OUT: ReadonlySet<string> = new Set(['id', 'date', ...WITHOUT_FIELD.map(plain)])

/** What a column is said to be on the command line, by its heading; `undefined` leaves it out. */
export type Mapping = ReadonlyMap<string, FieldName | undefined>

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

export type HeaderRules = {
  readonly unknown: 'refused' | 'ignored'
  readonly mapping?: Mapping
  /** What there has to be a column for: what every diamond has, unless told. */
  readonly required?: readonly FieldName[]
}

/**
 * The v4 fields that a header names, in any case, or as trade spreadsheets call them. A column without a heading holds none.
 * @throws BadUsage with all that is wrong: columns that are no field, fields that come twice, required ones that are missing
 */
export function readHeader(
  header: readonly string[],
  { unknown, mapping = new Map(), required = REQUIRED }: HeaderRules,
): Columns {
  const faults: string[] = []
  for (const heading of mapping.keys()) {
    if (!header.some((one) => plain(one) === heading))
      faults.push(`--map names a column that is not there; there are ${header.filter(Boolean).join(', ')}`)
  }
  const named = header.map((heading) => (mapping.has(plain(heading)) ? mapping.get(plain(heading)) : ownName(heading)))
  // A field's own name goes before what the trade calls it: the other column is then something else.
  const columns = header.map((heading, index) => {
    if (heading === '' || mapping.has(plain(heading)) || named[index] !== undefined) return named[index]
    const field = TRADE.get(plain(heading))
    if (field !== undefined && !named.includes(field)) return field
    if (!LEFT_OUT.has(plain(heading)) && unknown === 'refused') faults.push(unknownColumn(heading))
    return undefined
  })
  faults.push(...namedTwice(header, columns))
  const missing = required.filter((name) => !columns.includes(name))
  if (missing.length > 0) faults.push(`The header lacks ${missing.join(', ')}, without which there is no stone`)
  if (faults.length > 0) throw new BadUsage(faults.join('\n'))
  return columns
}

const ownName = (heading: string): FieldName | undefined =>
  FIELDS.find((name) => name.toLowerCase() === comparedText(heading))

/** How many of a row's cells are headings that are known: a header has at least two. */
export const headingsIn = (cells: readonly string[], { mapping = new Map() }: Pick<HeaderRules, 'mapping'>): number =>
  cells.filter((cell) => {
    const heading = plain(cell)
    return heading !== '' && (mapping.has(heading) || TRADE.has(heading) || LEFT_OUT.has(heading))
  }).length

/** Fields that two columns are, unless each holds an end of it. */
const namedTwice = (header: readonly string[], columns: Columns): readonly string[] =>
  FIELDS.flatMap((name) => {
    const headings = header.filter((_, index) => columns[index] === name)
    if (headings.length < 2 || headings.every((heading) => ENDS.has(plain(heading)))) return []
    return [`The header names ${name} twice, as ${headings.join(' and ')} (--map 'COLUMN=' leaves one out)`]
  })

function unknownColumn(heading: string): string {
  const near = nearest(comparedText(heading), FIELDS)
  const hint = near === undefined ? '' : `; did you mean ${near}?`
  return `The column ${heading.slice(0, 60)} is no field of a v4 diamond${hint} (--ignore-unknown leaves it out)`
}
