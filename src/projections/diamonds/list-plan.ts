import { SHAPE_IDS } from '../../domain/dictionaries/shapes.ts'
import type { Bounded, Condition, FieldValue, Kept, Query, Where } from '../../stores/ports/read-store.ts'
import {
  byDate,
  CELL,
  LEAST,
  memberOf,
  NEWEST_FIRST,
  NO_ENTRY,
  NONE,
  orderIndex,
  type DiamondFilter,
  type FilterName,
  type OrderName,
  type Range,
  type Sort,
} from './list-members.ts'

/** A place in the order of a list: what the fields of the order are there. */
export type Place = readonly FieldValue[]

export type Page = {
  readonly limit: number
  readonly offset: number
  /** The page begins behind this place, at no more cost than the first; empty for the first page. Then `offset` is 0. */
  readonly after?: Place
  /** The newest first, unless told. */
  readonly sort?: Sort
}

/**
 * How a list is answered: by an index that gives its order, with a total that is kept or counted over few; or by looking
 * through few. What would be more than few is refused, so that no list costs more than some others.
 */
export type Plan = {
  readonly by?: Query['by']
  /** One follows the other. */
  readonly parts: readonly Part[]
  /** What would be looked through. */
  readonly candidates?: Counted | 'kept'
  readonly total: Counted | 'kept'
  /** Whose kept counts say how many there are, and in which cells: only those are walked along. */
  readonly kept?: Where
  /** Diamonds that may be looked through. */
  readonly most: number
}

export type Part = Pick<Query, 'where' | 'order' | 'after'>
export type Counted = { readonly where: Where; readonly bounded?: Bounded }

/**
 * Diamonds that a list may look through: entries of one index that has all it needs. So many take four times as long as the
 * first page of a plain list does, request and answer included.
 */
export const LOOKED_THROUGH = 5_000
/** The same where each of them has to be read. */
const READ = 1_000

/** What a list is ordered by, and which way. */
export type Order = { readonly field: OrderName; readonly direction: 'asc' | 'desc' }

export const orderOf = (sort: Sort = NEWEST_FIRST): Order =>
  sort.startsWith('-')
    ? { field: sort.slice(1) as Order['field'], direction: 'desc' }
    : { field: sort as Order['field'], direction: 'asc' }

/** @param most diamonds that may be looked through */
export function planOf(owner: number, filter: DiamondFilter, page: Pick<Page, 'sort' | 'after'>, most: number): Plan {
  const order = orderOf(page.sort)
  const where: Where = { owner, ...conditionsOf(filter) }
  const parts = (of: Where, tie = 'id') => partsOf(of, order, tie, page.after)
  switch (wayOf(filter, order)) {
    case 'by date':
      return { parts: parts(where), total: { where }, most }
    case 'by value': {
      const sku = where['sku']
      const few = filter.id === undefined && sku !== undefined
      const candidates = {
        where: { owner, ...(sku !== undefined && { sku }) },
        bounded: { by: byDate('sku'), upTo: READ },
      }
      return { parts: parts(where), total: { where }, ...(few && { candidates }), most }
    }
    case 'ordered': {
      const by = orderIndex(order.field)
      if (order.field === 'sku') return { by, parts: parts(where), total: { where }, most }
      const all = inCells(where)
      const total = isRanged(filter, order) ? { where: all, bounded: { by, upTo: most } } : 'kept'
      return { by, parts: parts(all, tieOf(order)), total, kept: counted(where), most }
    }
    case 'looked through': {
      const by = orderIndex('carat')
      const all = inCells(where)
      const bounded = { by, upTo: most }
      const candidates = filter.carat === undefined ? 'kept' : { where: narrowest(all), bounded }
      return { by, parts: parts(all, 'tie'), total: { where: all, bounded }, candidates, kept: counted(where), most }
    }
  }
}

const counted = (where: Where): Where => {
  const names = ['owner', ...CELL].filter((name) => where[name] !== undefined)
  return Object.fromEntries(names.map((name) => [name, where[name] ?? 0]))
}

type Way = 'by date' | 'by value' | 'ordered' | 'looked through'

function wayOf(filter: DiamondFilter, order: Order): Way {
  const names = namesIn(filter)
  if (order.field === 'date' && names.every((name) => memberOf(name).versions.includes('v3'))) return 'by date'
  if (filter.id !== undefined || filter.sku !== undefined) return 'by value'
  return names.every((name) => isServed(name, filter, order)) ? 'ordered' : 'looked through'
}

export const namesIn = (filter: DiamondFilter) =>
  (Object.keys(filter) as FilterName[]).filter((name) => filter[name] !== undefined)

/** Whether an order's index serves a filter, among however many diamonds. */
export function isServed(name: FilterName, filter: DiamondFilter, { field }: Order): boolean {
  if (memberOf(field).takes !== 'range') return false
  if (name === 'cutShape') return (filter.cutShape ?? []).every((shape) => typeof shape === 'number')
  return name === 'isColored' || name === 'isLabGrown' || name === field
}

/** Of ranges no counts are kept. */
const isRanged = (filter: DiamondFilter, { field }: Order) => filter[field] !== undefined

/** In the index that has the key in its midst, that stands there by another name. */
const tieOf = ({ field }: Order) => (field === 'carat' ? 'tie' : 'id')

/** The conditions that the index of what is looked through begins with. */
const narrowest = ({ owner = 0, isLabGrown = 0, isColored = 0, shape = 0, carat }: Where): Where => ({
  owner,
  isLabGrown,
  isColored,
  shape,
  ...(carat !== undefined && { carat }),
})

const CELL_VALUES: Readonly<Record<(typeof CELL)[number], readonly number[]>> = {
  isLabGrown: [0, 1],
  isColored: [0, 1],
  shape: [NO_ENTRY, ...SHAPE_IDS],
}

/** The same plan, of cells alone in which something is. */
export function inKept(plan: Plan, kept: readonly Kept[]): Plan {
  const within = (where: Where): Where => ({
    ...where,
    ...Object.fromEntries(
      CELL.map((name) => [name, { in: [...new Set(kept.map(({ values }) => values[name] ?? 0))] }] as const),
    ),
  })
  const narrowed = (counting: Counted | 'kept') =>
    counting === 'kept' ? counting : { ...counting, where: within(counting.where) }
  return {
    ...plan,
    parts: plan.parts.map((part) => ({ ...part, where: within(part.where) })),
    total: narrowed(plan.total),
    ...(plan.candidates !== undefined && { candidates: narrowed(plan.candidates) }),
  }
}

/** With all values of the cells' fields that nothing was said of. */
const inCells = (where: Where): Where => ({
  ...where,
  ...Object.fromEntries(
    CELL.filter((name) => where[name] === undefined).map((name) => [name, { in: CELL_VALUES[name] }]),
  ),
})

/** What has no value is a part of its own where the least is first. */
function partsOf(where: Where, { field, direction }: Order, tie: string, after: Place = []): Part[] {
  const order = [[field, direction] as const, [tie, direction] as const]
  const behind = (place: Place) => (place.length === 0 ? {} : { after: place })
  if (!memberOf(field).mayLack || direction === 'desc' || where[field] !== undefined)
    return [{ where, order, ...behind(after) }]
  const lacking = { where: { ...where, [field]: NONE }, order: [[tie, direction] as const] }
  if (after[0] === NONE) return [{ ...lacking, ...behind(after.slice(1)) }]
  return [{ where: { ...where, [field]: { from: LEAST } }, order, ...behind(after) }, lacking]
}

function conditionsOf({ cutShape, ...filter }: DiamondFilter): Record<string, Condition> {
  const conditions = namesIn(filter).flatMap((name) => {
    const wanted = filter[name as keyof typeof filter]
    return wanted === undefined ? [] : [[name, conditionOf(wanted, memberOf(name).mayLack)] as const]
  })
  return { ...Object.fromEntries(conditions), ...(cutShape !== undefined && shapeConditions(cutShape)) }
}

type Values = readonly (number | string)[]

/** What has no value is in no range. */
function conditionOf(wanted: boolean | Values | Range, mayLack: boolean): Condition {
  if (typeof wanted === 'boolean') return Number(wanted)
  if (isValues(wanted)) return { in: wanted }
  return mayLack ? { ...wanted, from: Math.max(wanted.from ?? LEAST, LEAST) } : wanted
}

const isValues = (wanted: Values | Range): wanted is Values => Array.isArray(wanted)

/** Shapes that no dictionary knows are told apart by their text. */
function shapeConditions(shapes: readonly (number | string)[]): Record<string, Condition> {
  const known = shapes.filter((shape) => typeof shape === 'number')
  if (known.length === shapes.length) return { shape: { in: known } }
  return { shape: { in: [NO_ENTRY, ...known] }, cutShape: { in: shapes.map(String) } }
}
