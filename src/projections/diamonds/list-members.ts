import type { ApiVersion } from '../../domain/diamond/field.ts'
import {
  FIELDS,
  FILTERED,
  type DiamondFields,
  type FieldName,
  type FilteredField,
  type SortedAscending,
  type SortedBothWays,
} from '../../domain/diamond/fields.ts'
import type { LiveDiamond } from '../../domain/diamond/diamond.ts'
import { hasScores, scoresIn, type ScoresText } from '../../representations/diamond/scores.ts'
import type { Document, FieldValue, ModelDeclaration } from '../../stores/ports/read-store.ts'

/** A range of numbers, both ends included. */
export type Range = { readonly from?: number; readonly to?: number }

/** What lists can be filtered and ordered by that is no field: its id, when it was created, and its scores. */
type OtherFilters = {
  readonly id?: readonly number[]
  /** Seconds since 1970. */
  readonly date?: Range
  readonly hasScores?: boolean
  /** `scores.integral.val` */
  readonly integral?: Range
}

type Filtered<Name extends FilteredField> = (typeof FIELDS)[Name]['kind'] extends 'flag'
  ? boolean
  : (typeof FIELDS)[Name]['kind'] extends 'amount'
    ? Range
    : readonly NonNullable<DiamondFields[Name]>[]

/** All that is said must hold: any of these values, yes or no, or within this range. */
export type DiamondFilter = { readonly [Name in FilteredField]?: Filtered<Name> } & OtherFilters

export type FilterName = keyof DiamondFilter
type BothWays = SortedBothWays | 'date' | 'integral'
/** What lists can be ordered by. Ties go by id in the same direction; what has no value comes last. */
export type OrderName = BothWays | SortedAscending

/** A value of a list's filter or order. */
export type ListMember = {
  readonly name: FilterName
  readonly takes: 'values' | 'flag' | 'range'
  /** The versions whose lists can be filtered by it. */
  readonly versions: readonly ApiVersion[]
  readonly sorted: 'both ways' | 'ascending' | false
  /** Whether a diamond may have no value of it. */
  readonly mayLack: boolean
  /** The field that it is; undefined for what is no field. */
  readonly field?: FieldName
}

const field = (name: FilteredField): ListMember => {
  const { kind, filtered, sorted, required } = FIELDS[name]
  const takes = kind === 'flag' ? 'flag' : kind === 'amount' ? 'range' : 'values'
  return { name, takes, versions: filtered, sorted, mayLack: !required && takes === 'range', field: name }
}

const BOTH = ['v3', 'v4'] as const

/**
 * What lists can be filtered and ordered by, from the table of fields and beside it. From here follow what the read model
 * stores of each diamond and its indexes, the parameters of both versions, and the orders of v4's lists.
 */
export const LIST_MEMBERS: readonly ListMember[] = [
  { name: 'id', takes: 'values', versions: BOTH, sorted: false, mayLack: false },
  { name: 'date', takes: 'range', versions: BOTH, sorted: 'both ways', mayLack: false },
  ...FILTERED.map(field),
  { name: 'hasScores', takes: 'flag', versions: ['v4'], sorted: false, mayLack: false },
  { name: 'integral', takes: 'range', versions: ['v4'], sorted: 'both ways', mayLack: true },
]

const MEMBERS = new Map(LIST_MEMBERS.map((member) => [member.name, member]))

/** @throws Error for a name that no member has */
export function memberOf(name: FilterName): ListMember {
  const member = MEMBERS.get(name)
  if (member === undefined) throw new Error(`lists are not filtered or ordered by ${name}`)
  return member
}

/** The parameters of a query that filter by a member; of a range, where it begins and where it ends. */
export function parametersOf({ name, takes }: ListMember): readonly [string, ...string[]] {
  if (takes === 'range') return [`f[${name}From]`, `f[${name}To]`]
  return [takes === 'values' ? `f[${name}][]` : `f[${name}]`]
}

export type Sort = OrderName | `-${BothWays}`
export const NEWEST_FIRST = '-date' satisfies Sort

const ORDERS = LIST_MEMBERS.flatMap(({ name, sorted }) => (sorted === false ? [] : [name])) as readonly OrderName[]

const sortsOf = (name: OrderName) => (memberOf(name).sorted === 'ascending' ? [name] : [name, `-${name}`]) as Sort[]

/** The orders of v4's lists: the newest first, and all others. */
export const SORTS = [...new Set<Sort>([NEWEST_FIRST, ...ORDERS.flatMap(sortsOf)])]

/** What v3 filters by, and v4 too: every combination of those that are yes or no has an index by date. */
const OLDER = LIST_MEMBERS.filter(({ versions, field }) => versions.includes('v3') && field !== undefined)
const OLDER_FLAGS = OLDER.flatMap(({ name, takes }) => (takes === 'flag' ? [name] : []))
const OLDER_VALUES = OLDER.flatMap(({ name, takes }) => (takes === 'values' ? [name] : []))

/**
 * Fields of few values, which the indexes of v4's orders begin with: what is asked for of them are ranges of an index, and a
 * list without them merges all. So one index serves an order with any of these filters.
 */
export const CELL = ['isLabGrown', 'isColored', 'shape'] as const

/**
 * What stands for a number that a diamond has not: below all that there are, so that it comes last where the greatest is
 * first.
 */
export const NONE = -Number.MAX_VALUE

/** Above `NONE`, and below all that there are: nobody has a price of 308 digits below zero. */
export const LEAST = NONE / 2

/** What stands for a cut shape that no dictionary knows, and for an entry that a diamond has not. */
export const NO_ENTRY = 0

/** A column of the read model: what it holds of a field's value. */
type Column = {
  readonly name: string
  readonly kind: ModelDeclaration['fields'][string]
  of(value: DiamondFields[FieldName]): FieldValue
}

/** What is stored of a field that lists are filtered or ordered by. */
function columnsOf(name: FieldName): readonly Column[] {
  switch (FIELDS[name].kind) {
    case 'flag':
    case 'level':
      return [{ name, kind: 'integer', of: Number }]
    case 'entry':
      return [{ name, kind: 'integer', of: (value) => Number(value ?? NO_ENTRY) }]
    case 'amount':
      return [{ name, kind: 'number', of: (value) => Number(value ?? NONE) }]
    case 'text':
    case 'scale':
      return [{ name, kind: 'text', of: (value) => String(value ?? '') }]
    case 'shape':
      return [
        { name: 'shape', kind: 'integer', of: (value) => (typeof value === 'number' ? value : NO_ENTRY) },
        // The id as text, or the text of a shape that has none, which is never digits alone.
        { name, kind: 'text', of: String },
      ]
  }
}

const COLUMNS = FILTERED.flatMap((field) => columnsOf(field).map((column) => ({ field, column })))

/** What the read model keeps of each diamond for the filters and orders of lists. */
export const LIST_FIELDS: ModelDeclaration['fields'] = {
  id: 'integer',
  owner: 'integer',
  date: 'integer',
  ...Object.fromEntries(COLUMNS.map(({ column: { name, kind } }) => [name, kind])),
  hasScores: 'integer',
  integral: 'number',
  /** The id once more: an index can have the key at its end alone, and one of them needs it before. */
  tie: 'integer',
}

/** Parsed, so that it has a fixed shape, which its copies share. */
const UNSET = JSON.parse(
  JSON.stringify(
    Object.fromEntries(Object.entries(LIST_FIELDS).map(([name, kind]) => [name, kind === 'text' ? '' : 0])),
  ),
) as Document

/** @param scores null until there are some */
export function listFields({ id, owner, date, fields }: LiveDiamond, scores: ScoresText | null): Document {
  const isScored = hasScores(scores)
  const integral = isScored ? (scoresIn(scores).integral?.val ?? NONE) : NONE
  const document = { ...UNSET, id, owner, date, hasScores: Number(isScored), integral, tie: id } as Record<
    string,
    FieldValue
  >
  for (const { field, column } of COLUMNS) document[column.name] = column.of(fields[field])
  return document
}

const inCells = (...order: readonly string[]) => ['owner', ...CELL, ...order]

/** All that v4's lists filter and order by, beside what the index by carat begins with. */
const COVERED = [
  'date',
  ...COLUMNS.filter(({ field }) => memberOf(field).versions.includes('v4')).map(({ column }) => column.name),
  'integral',
  'hasScores',
].filter((name) => name !== 'carat' && !(CELL as readonly string[]).includes(name))

/**
 * The index of an order. A text has too many values for others to be merged. The index by carat has all the rest beside: other
 * combinations walk along it, as far as that may be.
 */
export function orderIndex(name: OrderName): readonly string[] {
  if (name === 'carat') return [...inCells('carat', 'tie'), ...COVERED]
  return memberOf(name).takes === 'range' ? inCells(name, 'id') : ['owner', name, 'id']
}

const NEWEST = ['date', 'id'] as const

/** Of one of v3's filters, in its order. */
export const byDate = (name: string): readonly string[] => ['owner', name, ...NEWEST]

const subsets = <Item>(items: readonly Item[]): Item[][] =>
  items.reduce<Item[][]>((sets, item) => [...sets, ...sets.map((set) => [...set, item])], [[]])

export const INDEXES: readonly (readonly string[])[] = [
  ...subsets(OLDER_FLAGS).map((flags) => ['owner', ...flags, ...NEWEST]),
  ...OLDER_VALUES.map(byDate),
  ...ORDERS.map(orderIndex),
]

/** By which documents are counted as they are written. */
export const COUNTED = ['owner', ...new Set<string>([...OLDER_FLAGS, ...CELL])]
