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

/** Both ends inclusive. */
export type FilterRange = { readonly from?: number; readonly to?: number }

/** Filters that are not fields: id, creation date and scores. */
type OtherFilters = {
  readonly id?: readonly number[]
  /** Seconds since 1970. */
  readonly date?: FilterRange
  readonly hasScores?: boolean
  /** `scores.integral.val` */
  readonly integral?: FilterRange
  /** `scores.integral.rg`: the cut performance, which compares cuts of any size. */
  readonly performance?: FilterRange
}

type FieldFilter<Name extends FilterableField> = (typeof FIELDS)[Name]['kind'] extends 'flag'
  ? boolean
  : (typeof FIELDS)[Name]['kind'] extends 'amount'
    ? FilterRange
    : readonly NonNullable<DiamondFields[Name]>[]

/** All conditions must hold. A condition is a set of values, a boolean or a range. */
export type DiamondFilter = { readonly [Name in FilterableField]?: FieldFilter<Name> } & OtherFilters

export type FilterName = keyof DiamondFilter
type BidirectionalSortField = FieldSortableBothWays | 'date' | 'integral' | 'performance'
/** What lists can be sorted by. Ties are sorted by id in the same direction; missing values come last. */
export type SortField = BidirectionalSortField | FieldSortableAscending

export type ListAttribute = {
  readonly name: FilterName
  readonly filterKind: 'values' | 'flag' | 'range'
  /** API versions with this filter. */
  readonly versions: readonly ApiVersion[]
  readonly sortDirections: 'both ways' | 'ascending' | false
  /** Whether a diamond may lack it. */
  readonly isNullable: boolean
  readonly field?: FieldName
}

const attributeOfField = (name: FilterableField): ListAttribute => {
  const { kind, filtered, sorted, required } = FIELDS[name]
  const filterKind = kind === 'flag' ? 'flag' : kind === 'amount' ? 'range' : 'values'
  return {
    name,
    filterKind,
    versions: filtered,
    sortDirections: sorted,
    isNullable: !required && filterKind === 'range',
    field: name,
  }
}

const BOTH_VERSIONS = ['v3', 'v4'] as const

/**
 * All attributes that lists filter or sort by. The read model's columns and indexes, the query parameters of both
 * versions and the sort orders of v4 are derived from this table.
 */
export const LIST_ATTRIBUTES: readonly ListAttribute[] = [
  { name: 'id', filterKind: 'values', versions: BOTH_VERSIONS, sortDirections: false, isNullable: false },
  { name: 'date', filterKind: 'range', versions: BOTH_VERSIONS, sortDirections: 'both ways', isNullable: false },
  ...FILTERABLE_FIELDS.map(attributeOfField),
  { name: 'hasScores', filterKind: 'flag', versions: ['v4'], sortDirections: false, isNullable: false },
  { name: 'integral', filterKind: 'range', versions: ['v4'], sortDirections: 'both ways', isNullable: true },
  { name: 'performance', filterKind: 'range', versions: ['v4'], sortDirections: 'both ways', isNullable: true },
]

const ATTRIBUTES_BY_NAME = new Map(LIST_ATTRIBUTES.map((attribute) => [attribute.name, attribute]))

/** @throws Error for an unknown name */
export function attributeOf(name: FilterName): ListAttribute {
  const attribute = ATTRIBUTES_BY_NAME.get(name)
  if (attribute === undefined) throw new Error(`${name}: lists cannot be filtered or sorted by it`)
  return attribute
}

/** The query parameters of a filter; for a range, the lower and the upper end. */
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

/** The sort orders of v4's lists; the first is the default. */
export const SORTS = [...new Set<Sort>([NEWEST_FIRST, ...SORT_FIELDS.flatMap(sortsOf)])]

/** v3's filters, also in v4: each combination of the boolean ones has an index by date. */
const V3_ATTRIBUTES = LIST_ATTRIBUTES.filter(({ versions, field }) => versions.includes('v3') && field !== undefined)
const V3_FLAGS = V3_ATTRIBUTES.flatMap(({ name, filterKind }) => (filterKind === 'flag' ? [name] : []))
const V3_VALUES = V3_ATTRIBUTES.flatMap(({ name, filterKind }) => (filterKind === 'values' ? [name] : []))

/**
 * Fields with few values, at the front of v4's sort indexes. A condition on them selects ranges of the index; without a
 * condition all their ranges are merged. So one index serves a sort order with any of these filters.
 */
export const INDEX_PREFIX_FIELDS = ['isLabGrown', 'isColored', 'shape'] as const

/** Stored for a missing number: below all values, so that it comes last in descending order. */
export const MISSING_NUMBER = -Number.MAX_VALUE

/** Above MISSING_NUMBER and below every real value. */
export const MIN_NUMBER = MISSING_NUMBER / 2

/** Stored for a cut shape that is not in the dictionary, and for a missing entry. */
export const MISSING_ENTRY = 0

type ListColumn = {
  readonly name: string
  readonly type: ModelDeclaration['fields'][string]
  toFieldValue(value: DiamondFields[FieldName]): FieldValue
}

function columnsOf(name: FieldName): readonly ListColumn[] {
  switch (FIELDS[name].kind) {
    case 'flag':
    case 'level':
      return [{ name, type: 'integer', toFieldValue: Number }]
    case 'entry':
      return [{ name, type: 'integer', toFieldValue: (value) => Number(value ?? MISSING_ENTRY) }]
    case 'amount':
      return [{ name, type: 'number', toFieldValue: (value) => Number(value ?? MISSING_NUMBER) }]
    case 'text':
    case 'scale':
      return [{ name, type: 'text', toFieldValue: (value) => String(value ?? '') }]
    case 'shape':
      return [
        {
          name: 'shape',
          type: 'integer',
          toFieldValue: (value) => (typeof value === 'number' ? value : MISSING_ENTRY),
        },
        // The id as text, or the text of a shape without an id, which never consists of digits only.
        { name, type: 'text', toFieldValue: String },
      ]
  }
}

const COLUMNS = FILTERABLE_FIELDS.flatMap((field) => columnsOf(field).map((column) => ({ field, column })))

/** The read model's fields for filtering and sorting. */
export const LIST_FIELDS: ModelDeclaration['fields'] = {
  id: 'integer',
  owner: 'integer',
  date: 'integer',
  ...Object.fromEntries(COLUMNS.map(({ column: { name, type } }) => [name, type])),
  hasScores: 'integer',
  integral: 'number',
  performance: 'number',
  // The id again: an index may have the key only at its end, and one index needs it earlier.
  tie: 'integer',
}

/** Created by JSON.parse, so that all copies share one hidden class. */
const EMPTY_LIST_FIELDS = JSON.parse(
  JSON.stringify(
    Object.fromEntries(Object.entries(LIST_FIELDS).map(([name, type]) => [name, type === 'text' ? '' : 0])),
  ),
) as Document

/** @param scores null if there are none */
export function listFields({ id, owner, date, fields }: LiveDiamond, scores: ScoresJson | null): Document {
  const isScored = hasScores(scores)
  const { val: integral = MISSING_NUMBER, rg: performance = MISSING_NUMBER } =
    (isScored ? parseScores(scores).integral : null) ?? {}
  const document: Record<string, FieldValue> = {
    ...EMPTY_LIST_FIELDS,
    id,
    owner,
    date,
    hasScores: Number(isScored),
    integral,
    performance,
    tie: id,
  }
  for (const { field, column } of COLUMNS) document[column.name] = column.toFieldValue(fields[field])
  return document
}

const withIndexPrefix = (...order: readonly string[]) => ['owner', ...INDEX_PREFIX_FIELDS, ...order]

/** The columns of all of v4's attributes. */
const LISTED_FIELDS = [
  'date',
  ...COLUMNS.filter(({ field }) => attributeOf(field).versions.includes('v4')).map(({ column }) => column.name),
  'integral',
  'performance',
  'hasScores',
]

/** The front of the second index that is scanned. */
export const GRADE_FIELDS = ['color', 'clarity'] as const

/**
 * An index by carat that covers all attributes of v4's lists. Combinations that no index serves in order scan one of these within the
 * limit: the diamonds with these values of its front, and in the carat range.
 */
export function coveringIndexOf(front: readonly string[]): readonly string[] {
  const first = ['owner', ...front, 'carat', 'tie']
  return [...first, ...LISTED_FIELDS.filter((name) => !first.includes(name))]
}

/** The index of a sort order. A text has too many values for merging ranges, so its index has no prefix. */
export function sortIndexOf(name: SortField): readonly string[] {
  if (name === 'carat') return coveringIndexOf(INDEX_PREFIX_FIELDS)
  return attributeOf(name).filterKind === 'range' ? withIndexPrefix(name, 'id') : ['owner', name, 'id']
}

const DATE_INDEX_FIELDS = ['date', 'id'] as const

/** The index of one of v3's filters, newest first. */
export const dateIndexOf = (name: string): readonly string[] => ['owner', name, ...DATE_INDEX_FIELDS]

const subsets = <Item>(items: readonly Item[]): Item[][] =>
  items.reduce<Item[][]>((sets, item) => [...sets, ...sets.map((set) => [...set, item])], [[]])

export const INDEXES: readonly (readonly string[])[] = [
  ...subsets(V3_FLAGS).map((flags) => ['owner', ...flags, ...DATE_INDEX_FIELDS]),
  ...V3_VALUES.map(dateIndexOf),
  ...SORT_FIELDS.map(sortIndexOf),
  coveringIndexOf(GRADE_FIELDS),
]

/** Fields by which documents are counted on each write. */
export const COUNTED_FIELDS = ['owner', ...new Set<string>([...V3_FLAGS, ...INDEX_PREFIX_FIELDS])]
