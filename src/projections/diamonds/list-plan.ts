import { clarity, color } from '../../domain/dictionaries/colors.ts'
import type { Dictionary } from '../../domain/dictionaries/dictionary.ts'
import { SHAPE_IDS } from '../../domain/dictionaries/shapes.ts'
import type {
  CountLimit,
  Condition,
  Document,
  FieldValue,
  DocumentCount,
  Query,
  WhereClause,
} from '../../stores/ports/read-store.ts'
import {
  coveringIndexOf,
  dateIndexOf,
  GRADE_FIELDS,
  INDEX_PREFIX_FIELDS,
  MIN_NUMBER,
  attributeOf,
  NEWEST_FIRST,
  MISSING_ENTRY,
  MISSING_NUMBER,
  sortIndexOf,
  type DiamondFilter,
  type FilterName,
  type SortField,
  type FilterRange,
  type Sort,
} from './list-attributes.ts'

/** A position in a sorted list: the values of the sort fields there. */
export type KeysetCursor = readonly FieldValue[]

export type DiamondPageRequest = {
  readonly limit: number
  readonly offset: number
  /**
   * Keyset pagination: the page begins after this position, at the cost of a first page; empty for the first page.
   * `offset` is then 0.
   */
  readonly after?: KeysetCursor
  /** Default: newest first. */
  readonly sort?: Sort
}

/**
 * How a list is executed: by an index in sort order, with a stored total or one counted within a limit; or by a bounded
 * scan. Lists that would exceed the scan limit are refused, so that the cost of a list is bounded.
 */
export type DiamondListPlan = {
  readonly index?: Query['by']
  /** Executed in turn; their results are concatenated. */
  readonly queries: readonly PlanQuery[]
  /** The diamonds that would be scanned. */
  readonly scanned?: CountQuery | 'kept'
  readonly total: CountQuery | 'kept'
  /** Selects the stored counts that give the total and the non-empty cells; only those are read. */
  readonly countsWhere?: WhereClause
  readonly maxScanned: number
  /** The plan to try if this one would scan too many. */
  readonly otherwise?: DiamondListPlan
}

type PlanQuery = Pick<Query, 'where' | 'order' | 'after'>
type CountQuery = { readonly where: WhereClause; readonly bounded?: CountLimit }

/**
 * Maximum number of diamonds that a list may scan as entries of a covering index. Scanning that many takes four times
 * as long as the first page of a plain list, including request and response.
 */
export const MAX_ENTRIES_SCANNED = 5_000
/** The same if each document has to be read. */
const MAX_DOCUMENTS_READ = 1_000

type SortOrder = { readonly field: SortField; readonly direction: 'asc' | 'desc' }

export const parseSort = (sort: Sort = NEWEST_FIRST): SortOrder =>
  sort.startsWith('-')
    ? { field: sort.slice(1) as SortOrder['field'], direction: 'desc' }
    : { field: sort as SortOrder['field'], direction: 'asc' }

/** @param maxScanned maximum number of diamonds to scan */
export function planList(
  owner: number,
  filter: DiamondFilter,
  page: Pick<DiamondPageRequest, 'sort' | 'after'>,
  maxScanned: number,
): DiamondListPlan {
  const order = parseSort(page.sort)
  const where: WhereClause = { owner, ...conditionsOf(filter) }
  const queriesFor = (clause: WhereClause, tie = 'id') => planQueries(clause, order, tie, page.after)
  switch (accessPathOf(filter, order)) {
    case 'by date':
      return { queries: queriesFor(where), total: { where }, maxScanned }
    case 'by value': {
      const sku = where['sku']
      const isBySku = filter.id === undefined && sku !== undefined
      const candidates = {
        where: { owner, ...(sku !== undefined && { sku }) },
        bounded: { by: dateIndexOf('sku'), upTo: MAX_DOCUMENTS_READ },
      }
      return { queries: queriesFor(where), total: { where }, ...(isBySku && { scanned: candidates }), maxScanned }
    }
    case 'ordered': {
      const index = sortIndexOf(order.field)
      if (order.field === 'sku') return { index, queries: queriesFor(where), total: { where }, maxScanned }
      const expandedWhere = withAllPrefixValues(where)
      const total = isFilteredBySortField(filter, order)
        ? { where: expandedWhere, bounded: { by: index, upTo: maxScanned } }
        : 'kept'
      return {
        index,
        queries: queriesFor(expandedWhere, tieBreakerOf(order)),
        total,
        countsWhere: countedConditionsOf(where),
        maxScanned,
      }
    }
    case 'scanned': {
      const scan = (front: readonly PrefixField[]): DiamondListPlan => {
        const index = coveringIndexOf(front)
        const expandedWhere = withAllPrefixValues(where, front)
        const bounded = { by: index, upTo: maxScanned }
        const total = { where: expandedWhere, bounded }
        const scanned = { where: frontOf(expandedWhere, front), bounded }
        return { index, queries: queriesFor(expandedWhere, 'tie'), total, scanned, maxScanned }
      }
      const byShape: DiamondListPlan = {
        ...scan(INDEX_PREFIX_FIELDS),
        ...(filter.carat === undefined && { scanned: 'kept' }),
        countsWhere: countedConditionsOf(where),
      }
      const hasGrade = GRADE_FIELDS.some((name) => filter[name] !== undefined)
      return hasGrade ? { ...scan(GRADE_FIELDS), otherwise: byShape } : byShape
    }
  }
}

const countedConditionsOf = (where: WhereClause): WhereClause => {
  const names = ['owner', ...INDEX_PREFIX_FIELDS].filter((name) => where[name] !== undefined)
  return Object.fromEntries(names.map((name) => [name, where[name] ?? 0]))
}

type AccessPath = 'by date' | 'by value' | 'ordered' | 'scanned'

export function accessPathOf(filter: DiamondFilter, order: SortOrder): AccessPath {
  const names = filterNamesOf(filter)
  if (order.field === 'date' && names.every(isServedByDate)) return 'by date'
  if (filter.id !== undefined || filter.sku !== undefined) return 'by value'
  return names.every((name) => isServed(name, filter, order)) ? 'ordered' : 'scanned'
}

export const filterNamesOf = (filter: DiamondFilter) =>
  (Object.keys(filter) as FilterName[]).filter((name) => filter[name] !== undefined)

/** Whether the index of a sort order serves a filter for any number of diamonds. */
export function isServed(name: FilterName, filter: DiamondFilter, { field }: SortOrder): boolean {
  if (attributeOf(field).filterKind !== 'range') return false
  if (name === 'cutShape') return (filter.cutShape ?? []).every((shape) => typeof shape === 'number')
  return name === 'isColored' || name === 'isLabGrown' || name === field
}

/** There are no stored counts of ranges. */
const isFilteredBySortField = (filter: DiamondFilter, { field }: SortOrder) => filter[field] !== undefined

/** An index may have `id` only at its end. The index by carat has further fields, so it uses the copy `tie`. */
const tieBreakerOf = ({ field }: SortOrder) => (field === 'carat' ? 'tie' : 'id')

type PrefixField = (typeof INDEX_PREFIX_FIELDS | typeof GRADE_FIELDS)[number]

/** The conditions on the front of a covering index. */
const frontOf = (where: WhereClause, front: readonly PrefixField[]): WhereClause =>
  Object.fromEntries(Object.entries(where).filter(([name]) => ['owner', ...front, 'carat'].includes(name)))

const entriesOf = ({ all }: Dictionary) => [MISSING_ENTRY, ...all.map(({ id }) => id)]

const PREFIX_VALUES: Readonly<Record<PrefixField, readonly number[]>> = {
  isLabGrown: [0, 1],
  isColored: [0, 1],
  shape: [MISSING_ENTRY, ...SHAPE_IDS],
  color: entriesOf(color),
  clarity: entriesOf(clarity),
}

/** The plan restricted to cells that have documents. */
export function restrictToCounts(plan: DiamondListPlan, counts: readonly DocumentCount[]): DiamondListPlan {
  const restrict = (where: WhereClause): WhereClause => ({
    ...where,
    ...Object.fromEntries(
      INDEX_PREFIX_FIELDS.map(
        (name) => [name, { in: [...new Set(counts.map(({ values }) => values[name] ?? 0))] }] as const,
      ),
    ),
  })
  const restrictCount = (countQuery: CountQuery | 'kept') =>
    countQuery === 'kept' ? countQuery : { ...countQuery, where: restrict(countQuery.where) }
  return {
    ...plan,
    queries: plan.queries.map((part) => ({ ...part, where: restrict(part.where) })),
    total: restrictCount(plan.total),
    ...(plan.scanned !== undefined && { scanned: restrictCount(plan.scanned) }),
  }
}

/** Adds all values of prefix fields without a condition. */
const withAllPrefixValues = (
  where: WhereClause,
  prefix: readonly PrefixField[] = INDEX_PREFIX_FIELDS,
): WhereClause => ({
  ...where,
  ...Object.fromEntries(
    prefix.filter((name) => where[name] === undefined).map((name) => [name, { in: PREFIX_VALUES[name] }]),
  ),
})

/** In ascending order, diamonds without a value come last, in a separate query. */
function planQueries(
  where: WhereClause,
  { field, direction }: SortOrder,
  tie: string,
  after: KeysetCursor = [],
): PlanQuery[] {
  const order = [[field, direction] as const, [tie, direction] as const]
  const afterCursor = (cursor: KeysetCursor) => (cursor.length === 0 ? {} : { after: cursor })
  if (!attributeOf(field).isNullable || direction === 'desc' || where[field] !== undefined)
    return [{ where, order, ...afterCursor(after) }]
  const missingValueQuery = { where: { ...where, [field]: MISSING_NUMBER }, order: [[tie, direction] as const] }
  if (after[0] === MISSING_NUMBER) return [{ ...missingValueQuery, ...afterCursor(after.slice(1)) }]
  return [{ where: { ...where, [field]: { from: MIN_NUMBER } }, order, ...afterCursor(after) }, missingValueQuery]
}

function conditionsOf({ cutShape, ...filter }: DiamondFilter): Record<string, Condition> {
  const conditions = filterNamesOf(filter).flatMap((name) => {
    const value = filter[name as keyof typeof filter]
    return value === undefined ? [] : [[name, conditionOf(value, attributeOf(name).isNullable)] as const]
  })
  return { ...Object.fromEntries(conditions), ...(cutShape !== undefined && shapeConditions(cutShape)) }
}

/** A condition on a document, and the fields that it needs. */
type DocumentCondition = { readonly fields: readonly string[]; readonly isMet: (document: Document) => boolean }

/** The part of a filter that the index by date serves for any number of diamonds, and the condition for the rest. */
export function splitByDateIndex(filter: DiamondFilter): {
  readonly served: DiamondFilter
  readonly condition: DocumentCondition
} {
  const partOf = (isServedPart: boolean): DiamondFilter => {
    const names = filterNamesOf(filter).filter((name) => isServedByDate(name) === isServedPart)
    return Object.fromEntries(names.map((name) => [name, filter[name]]))
  }
  const conditions = Object.entries(conditionsOf(partOf(false)))
  const isMet = (document: Document) => conditions.every(([field, one]) => meets(document[field] ?? '', one))
  return { served: partOf(true), condition: { fields: conditions.map(([field]) => field), isMet } }
}

const isServedByDate = (name: FilterName) => attributeOf(name).versions.includes('v3')

/** As a read store compares numbers; texts are only compared for equality. */
function meets(value: FieldValue, condition: Condition): boolean {
  if (typeof condition !== 'object') return value === condition
  if ('in' in condition) return condition.in.includes(value)
  const { from = value, to = value } = condition
  return value >= from && value <= to
}

type FilterValues = readonly (number | string)[]

/** A diamond without a value is in no range. */
function conditionOf(value: boolean | FilterValues | FilterRange, isNullable: boolean): Condition {
  if (typeof value === 'boolean') return Number(value)
  if (isValues(value)) return { in: value }
  return isNullable ? { ...value, from: Math.max(value.from ?? MIN_NUMBER, MIN_NUMBER) } : value
}

const isValues = (value: FilterValues | FilterRange): value is FilterValues => Array.isArray(value)

/** Shapes without an id in the dictionary are matched by their text. */
function shapeConditions(shapes: readonly (number | string)[]): Record<string, Condition> {
  const shapeIds = shapes.filter((shape) => typeof shape === 'number')
  if (shapeIds.length === shapes.length) return { shape: { in: shapeIds } }
  return { shape: { in: [MISSING_ENTRY, ...shapeIds] }, cutShape: { in: shapes.map(String) } }
}
