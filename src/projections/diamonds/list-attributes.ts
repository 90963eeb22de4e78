import type { ApiVersion } from '../../domain/diamond/field.ts'
import {
  FIELDS,
  FILTERABLE_FIELDS,
  type DiamondFields,
  type FieldName,
  type FilterableField,
  type FieldSortableAscending,
  type FieldSortableBothWays,
} from '../../domain/diamond/fields.ts'
import type { LiveDiamond } from '../../domain/diamond/diamond.ts'
import { hasScores, parseScores, type ScoresJson } from '../../representations/diamond/scores-json.ts'
import type { Document, FieldValue, ModelDeclaration } from '../../stores/ports/read-store.ts'

/** A range of numbers, both ends included. */
export type FilterRange = { readonly from?: number; readonly to?: number }

/** What lists can be filtered and ordered by that is no field: its id, when it was created, and its scores. */
type OtherFilters = {
  readonly id?: readonly number[]
  /** Seconds since 1970. */
  readonly date?: FilterRange
  readonly hasScores?: boolean
  /** `scores.integral.val` */
  readonly integral?: FilterRange
}

type FieldFilter<Name extends FilterableField> = (typeof FIELDS)[Name]['kind'] extends 'flag'
  ? boolean
  : (typeof FIELDS)[Name]['kind'] extends 'amount'
    ? FilterRange
    : readonly NonNullable<DiamondFields[Name]>[]

/** All that is said must hold: any of these values, yes or no, or within this range. */
export type DiamondFilter = { readonly [Name in FilterableField]?: FieldFilter<Name> } & OtherFilters

export type FilterName = keyof DiamondFilter
type BidirectionalSortField = FieldSortableBothWays | 'date' | 'integral'
/** What lists can be ordered by. Ties go by id in the same direction; what has no value comes last. */
export type SortField = BidirectionalSortField | FieldSortableAscending

/** A value of a list's filter or order. */
export type ListAttribute = {
  readonly name: FilterName
  readonly filterKind: 'values' | 'flag' | 'range'
  /** The versions whose lists can be filtered by it. */
  readonly versions: readonly ApiVersion[]
  readonly sortDirections: 'both ways' | 'ascending' | false
  /** Whether a diamond may have no value of it. */
  readonly isNullable: boolean
  /** The field that it is; undefined for what is no field. */
  readonly field?: FieldName
}

const field = (name: FilterableField): ListAttribute => {
  const { kind, filtered, sorted, required } = FIELDS[name]
  const takes = kind === 'flag' ? 'flag' : kind === 'amount' ? 'range' : 'values'
  return {
    name,
    filterKind: takes,
    versions: filtered,
    sortDirections: sorted,
    isNullable: !required && takes === 'range',
    field: name,
  }
}

const BOTH = ['v3', 'v4'] as const

/**
 * What lists can be filtered and ordered by, from the table of fields and beside it. From here follow what the read model
 * stores of each diamond and its indexes, the parameters of both versions, and the orders of v4's lists.
 */
export const LIST_ATTRIBUTES: readonly ListAttribute[] = [
  { name: 'id', filterKind: 'values', versions: BOTH, sortDirections: false, isNullable: false },
  { name: 'date', filterKind: 'range', versions: BOTH, sortDirections: 'both ways', isNullable: false },
  ...FILTERABLE_FIELDS.map(field),
  { name: 'hasScores', filterKind: 'flag', versions: ['v4'], sortDirections: false, isNullable: false },
  { name: 'integral', filterKind: 'range', versions: ['v4'], sortDirections: 'both ways', isNullable: true },
]

const ATTRIBUTES_BY_NAME = new Map(LIST_ATTRIBUTES.map((member) => [member.name, member]))

/** @throws Error for a name that no member has */
export function attributeOf(name: FilterName): ListAttribute {
  const member = ATTRIBUTES_BY_NAME.get(name)
  if (member === undefined) throw new Error(`lists are not filtered or ordered by ${name}`)
  return member
}

/** The parameters of a query that filter by a member; of a range, where it begins and where it ends. */
export function parametersOf({ name, filterKind }: ListAttribute): readonly [string, ...string[]] {
  if (filterKind === 'range') return [`f[${name}From]`, `f[${name}To]`]
  return [filterKind === 'values' ? `f[${name}][]` : `f[${name}]`]
}

export type Sort = SortField | `-${BidirectionalSortField}`
export const NEWEST_FIRST = '-date' satisfies Sort

const SORT_FIELDS = LIST_ATTRIBUTES.flatMap(({ name, sortDirections }) =>
  sortDirections === false ? [] : [name],
) as readonly SortField[]

const sortsOf = (name: SortField) =>
  (attributeOf(name).sortDirections === 'ascending' ? [name] : [name, `-${name}`]) as Sort[]

/** The orders of v4's lists: the newest first, and all others. */
export const SORTS = [...new Set<Sort>([NEWEST_FIRST, ...SORT_FIELDS.flatMap(sortsOf)])]

/** What v3 filters by, and v4 too: every combination of those that are yes or no has an index by date. */
const V3_ATTRIBUTES = LIST_ATTRIBUTES.filter(({ versions, field }) => versions.includes('v3') && field !== undefined)
const V3_FLAGS = V3_ATTRIBUTES.flatMap(({ name, filterKind }) => (filterKind === 'flag' ? [name] : []))
const V3_VALUES = V3_ATTRIBUTES.flatMap(({ name, filterKind }) => (filterKind === 'values' ? [name] : []))

/**
 * Fields of few values, which the indexes of v4's orders begin with: what is asked for of them are ranges of an index, and a
 * list without them merges all. So one index serves an order with any of these filters.
 */
export const INDEX_PREFIX_FIELDS = ['isLabGrown', 'isColored', 'shape'] as const

/**
 * What stands for a number that a diamond has not: below all that there are, so that it comes last where the greatest is
 * first.
 */
export const MISSING_NUMBER = -Number.MAX_VALUE

/** Above `NONE`, and below all that there are: nobody has a price of 308 digits below zero. */
export const MIN_NUMBER = MISSING_NUMBER / 2

/** What stands for a cut shape that no dictionary knows, and for an entry that a diamond has not. */
export const MISSING_ENTRY = 0

/** A column of the read model: what it holds of a field's value. */
type ListColumn = {
  readonly name: string
  readonly kind: ModelDeclaration['fields'][string]
  toFieldValue(value: DiamondFields[FieldName]): FieldValue
}

/** What is stored of a field that lists are filtered or ordered by. */
function columnsOf(name: FieldName): readonly ListColumn[] {
  switch (FIELDS[name].kind) {
    case 'flag':
    case 'level':
      return [{ name, kind: 'integer', toFieldValue: Number }]
    case 'entry':
      return [{ name, kind: 'integer', toFieldValue: (value) => Number(value ?? MISSING_ENTRY) }]
    case 'amount':
      return [{ name, kind: 'number', toFieldValue: (value) => Number(value ?? MISSING_NUMBER) }]
    case 'text':
    case 'scale':
      return [{ name, kind: 'text', toFieldValue: (value) => String(value ?? '') }]
    case 'shape':
      return [
        {
          name: 'shape',
          kind: 'integer',
          toFieldValue: (value) => (typeof value === 'number' ? value : MISSING_ENTRY),
        },
        // The id as text, or the text of a shape that has none, which is never digits alone.
        { name, kind: 'text', toFieldValue: String },
      ]
  }
}

const COLUMNS = FILTERABLE_FIELDS.flatMap((field) => columnsOf(field).map((column) => ({ field, column })))

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
export function listFields({ id, owner, date, fields }: LiveDiamond, scores: ScoresJson | null): Document {
  const isScored = hasScores(scores)
  const integral = isScored ? (parseScores(scores).integral?.val ?? MISSING_NUMBER) : MISSING_NUMBER
  const document = { ...UNSET, id, owner, date, hasScores: Number(isScored), integral, tie: id } as Record<
    string,
    FieldValue
  >
  for (const { field, column } of COLUMNS) document[column.name] = column.toFieldValue(fields[field])
  return document
}

const withIndexPrefix = (...order: readonly string[]) => ['owner', ...INDEX_PREFIX_FIELDS, ...order]

/** All that v4's lists filter and order by, beside what the index by carat begins with. */
const COVERED_FIELDS = [
  'date',
  ...COLUMNS.filter(({ field }) => attributeOf(field).versions.includes('v4')).map(({ column }) => column.name),
  'integral',
  'hasScores',
].filter((name) => name !== 'carat' && !(INDEX_PREFIX_FIELDS as readonly string[]).includes(name))

/**
 * The index of an order. A text has too many values for others to be merged. The index by carat has all the rest beside: other
 * combinations walk along it, as far as that may be.
 */
export function sortIndexOf(name: SortField): readonly string[] {
  if (name === 'carat') return [...withIndexPrefix('carat', 'tie'), ...COVERED_FIELDS]
  return attributeOf(name).filterKind === 'range' ? withIndexPrefix(name, 'id') : ['owner', name, 'id']
}

const NEWEST = ['date', 'id'] as const

/** Of one of v3's filters, in its order. */
export const dateIndexOf = (name: string): readonly string[] => ['owner', name, ...NEWEST]

const subsets = <Item>(items: readonly Item[]): Item[][] =>
  items.reduce<Item[][]>((sets, item) => [...sets, ...sets.map((set) => [...set, item])], [[]])

export const INDEXES: readonly (readonly string[])[] = [
  ...subsets(V3_FLAGS).map((flags) => ['owner', ...flags, ...NEWEST]),
  ...V3_VALUES.map(dateIndexOf),
  ...SORT_FIELDS.map(sortIndexOf),
]

/** By which documents are counted as they are written. */
export const COUNTED_FIELDS = ['owner', ...new Set<string>([...V3_FLAGS, ...INDEX_PREFIX_FIELDS])]
