import { REQUIRED, type FieldName, fieldsOf } from '../../domain/diamond/fields.ts'
import { cutQuality } from '../../domain/dictionaries/cut-grades.ts'
import { nearest } from '../../domain/dictionaries/nearest.ts'
import { parseShape } from '../../domain/dictionaries/shapes.ts'
import { comparedText } from '../../domain/visible-text.ts'
import { BadUsage } from '../../maintenance/operation.ts'
import { WORDS, type Words } from '../../representations/diamond/words.ts'
import { DISCOUNTS, PRICES_PER_CARAT, WITHOUT_FIELD } from './trade-columns.ts'

/** What each column of a spreadsheet holds; undefined for one that is left out. */
export type Columns = readonly (FieldName | undefined)[]

const FIELDS: readonly FieldName[] = fieldsOf('v4')

/** A heading as it is compared with those of trade spreadsheets: `Stock #` is `stock`, `Girdle %` is no `Girdle`. */
const plain = (heading: string) =>
  comparedText(heading)
    .replaceAll('%', 'pct')
    .replaceAll(/[^\p{L}\p{N}]/gu, '')

const wordsOf = (name: FieldName): Words => WORDS[name]

/** How sure a heading is: of the columns that are one field the surer one counts. Vague ones and ends are then left out. */
const OWN = 0
const TRADE = 1
const VAGUE = 2
const END = 3

type Meaning = { readonly field: FieldName; readonly sureness: number }

/** What headings mean: the fields' own names, and what trade spreadsheets call them. */
const MEANINGS: ReadonlyMap<string, Meaning> = new Map(
  FIELDS.flatMap((field) => {
    const { headings = [], vague = [], ends = [] } = wordsOf(field)
    const meant = (names: readonly string[], sureness: number) =>
      names.map((name) => [plain(name), { field, sureness }] as const)
    // The last of equal keys counts: a name that is vague is so where it is the field's own, too.
    return [...meant([field], OWN), ...meant(headings, TRADE), ...meant(ends, END), ...meant(vague, VAGUE)]
  }),
)

/** The service assigns `id` and `date` itself. */
const LEFT_OUT: ReadonlySet<string> = new Set(['id', 'date', ...WITHOUT_FIELD.map(plain)])

const DISCOUNT: ReadonlySet<string> = new Set(DISCOUNTS.map(plain))
const PER_CARAT: ReadonlySet<string> = new Set(PRICES_PER_CARAT.map(plain))

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

/** What a person said that texts mean: by column, then by text in small letters. */
export type ValueMap = ReadonlyMap<number, ReadonlyMap<string, string>>

/** What a text of a column means. */
export type GivenValue = { readonly column: string; readonly text: string; readonly value: string }

/** `Cut:Super Ideal=Ideal`, `Price:ask=`. @throws BadUsage for words of another form */
export function readValues(words: readonly string[]): readonly GivenValue[] {
  return words.map((word) => {
    const [, column = '', text = '', value = ''] = /^([^:]+):(.+)=([^=]*)$/.exec(word) ?? []
    if (column === '') throw new BadUsage(`--map-value ${word}: write COLUMN:TEXT=VALUE, or COLUMN:TEXT= for no value`)
    return { column, text: comparedText(text), value: value.trim() }
  })
}

/** The same by column. @throws BadUsage for a column that is not there */
export function valuesBy(header: readonly string[], values: readonly GivenValue[]): ValueMap {
  const byColumn = new Map<number, Map<string, string>>()
  for (const { column, text, value } of values) {
    const index = header.findIndex((heading) => plain(heading) === plain(column))
    if (index < 0)
      throw new BadUsage(`--map-value names the column ${column}, which is not there; there are ${namesOf(header)}`)
    byColumn.set(index, (byColumn.get(index) ?? new Map<string, string>()).set(text, value))
  }
  return byColumn
}

const namesOf = (header: readonly string[]) => header.filter(Boolean).join(', ')

export type HeaderRules = {
  readonly unknown: 'refused' | 'ignored'
  readonly mapping?: Mapping
  /** What there has to be a column for: what every diamond has, unless told. */
  readonly required?: readonly FieldName[]
}

/**
 * The v4 fields that a header names, in any case, or as trade spreadsheets call them. A column without a heading holds none.
 * @param rows below it, by which it is told whether `Cut` is the shape
 * @throws BadUsage with all that is wrong: columns that are no field, fields that come twice, required ones that are missing
 */
export function readHeader(
  header: readonly string[],
  { unknown, mapping = new Map(), required = REQUIRED }: HeaderRules,
  rows: readonly (readonly string[])[] = [],
): Columns {
  const faults: string[] = []
  for (const heading of mapping.keys()) {
    if (!header.some((one) => plain(one) === heading))
      faults.push(`--map names a column that is not there; there are ${namesOf(header)}`)
  }
  const meanings = header.map((heading): Meaning | undefined => {
    if (!mapping.has(plain(heading))) return MEANINGS.get(plain(heading))
    const field = mapping.get(plain(heading))
    return field && { field, sureness: OWN }
  })
  const shapes = shapeColumn(header, meanings, rows)
  if (shapes !== undefined) meanings[shapes] = { field: 'cutShape', sureness: TRADE }
  const columns = meanings.map((meaning) => (meaning && isSurest(meaning, meanings) ? meaning.field : undefined))
  if (unknown === 'refused') {
    const isKnown = (heading: string, index: number) =>
      columns[index] !== undefined || mapping.has(heading) || LEFT_OUT.has(heading) || isLeft(meanings[index])
    faults.push(
      ...header.filter((heading, index) => heading !== '' && !isKnown(plain(heading), index)).map(unknownColumn),
    )
  }
  faults.push(...namedTwice(header, columns), ...priceOfOneCarat(header, columns, mapping))
  const missing = required.filter((name) => !columns.includes(name))
  if (missing.length > 0) faults.push(`The header lacks ${missing.join(', ')}, without which there is no stone`)
  if (faults.length > 0) throw new BadUsage(faults.join('\n'))
  return columns
}

const isLeft = (meaning: Meaning | undefined) => meaning?.sureness === VAGUE || meaning?.sureness === END

const isSurest = ({ field, sureness }: Meaning, meanings: readonly (Meaning | undefined)[]): boolean =>
  meanings.every((other) => other?.field !== field || other.sureness >= sureness)

/** The trade calls the shape a cut, too: where no other column is the shape, one of cuts that has shapes alone is. */
function shapeColumn(
  header: readonly string[],
  meanings: readonly (Meaning | undefined)[],
  rows: readonly (readonly string[])[],
): number | undefined {
  if (meanings.some((meaning) => meaning?.field === 'cutShape')) return undefined
  const index = header.findIndex((heading) => plain(heading) === 'cut')
  const cuts = rows.map((cells) => cells[index] ?? '').filter((cell) => cell !== '')
  const areShapes = cuts.length > 0 && cuts.every((cut) => parseShape(cut) !== undefined)
  return areShapes && cuts.some((cut) => cutQuality.find(cut) === undefined) ? index : undefined
}

/** A column `Price` beside discounts may be of one carat, as on RapNet: a person has to say so. */
function priceOfOneCarat(header: readonly string[], columns: Columns, mapping: Mapping): readonly string[] {
  const price = header[columns.indexOf('price')] ?? ''
  const isVague = !mapping.has(plain(price)) && MEANINGS.get(plain(price))?.sureness === VAGUE
  const discount = header.find((heading) => DISCOUNT.has(plain(heading)))
  if (!isVague || discount === undefined || header.some((heading) => PER_CARAT.has(plain(heading)))) return []
  return [
    `${price} beside ${discount} may be the price of one carat: --map '${price}=price' says that it is the stone's, ` +
      `--map '${price}=' leaves it out`,
  ]
}

/** How many of a row's cells are headings that are known: a header has at least two. */
export const headingsIn = (cells: readonly string[], { mapping = new Map() }: Pick<HeaderRules, 'mapping'>): number =>
  cells.filter((cell) => {
    const heading = plain(cell)
    return heading !== '' && (mapping.has(heading) || MEANINGS.has(heading) || LEFT_OUT.has(heading))
  }).length

/** Fields that two columns are, unless each holds an end of it. */
const namedTwice = (header: readonly string[], columns: Columns): readonly string[] =>
  FIELDS.flatMap((name) => {
    const headings = header.filter((_, index) => columns[index] === name)
    if (headings.length < 2 || headings.every((heading) => MEANINGS.get(plain(heading))?.sureness === END)) return []
    return [`The header names ${name} twice, as ${headings.join(' and ')} (--map 'COLUMN=' leaves one out)`]
  })

function unknownColumn(heading: string): string {
  const near = nearest(comparedText(heading), FIELDS)
  const hint = near === undefined ? '' : `; did you mean ${near}?`
  return `The column ${heading.slice(0, 60)} is no field of a v4 diamond${hint} (--ignore-unknown leaves it out)`
}
