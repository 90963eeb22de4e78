import type { Condition, FieldValue, Query, WhereClause } from '../../ports/read-store.ts'
import { quoted } from './schema.ts'

/** A filter on one field. `size` of a membership is padded, so that few statements serve lists of any length. */
export type FilterTerm =
  | { readonly field: string; readonly kind: 'equal'; readonly values: readonly FieldValue[] }
  | { readonly field: string; readonly kind: 'in'; readonly values: readonly FieldValue[] }
  | {
      readonly field: string
      readonly kind: 'from' | 'to' | 'between' | 'above' | 'below'
      readonly values: readonly FieldValue[]
    }

export function termsOf(where: WhereClause): FilterTerm[] {
  const terms: FilterTerm[] = []
  for (const field in where) {
    const condition = where[field]
    if (condition !== undefined) {
      const term = termOf(field, condition)
      if (term !== undefined) terms.push(term)
    }
  }
  return terms
}

function termOf(field: string, condition: Condition): FilterTerm | undefined {
  if (typeof condition !== 'object') return { field, kind: 'equal', values: [condition] }
  if ('in' in condition) return membership(field, condition.in)
  const { from, to } = condition
  if (from === undefined) return to === undefined ? undefined : { field, kind: 'to', values: [to] }
  return to === undefined ? { field, kind: 'from', values: [from] } : { field, kind: 'between', values: [from, to] }
}

/** The last value fills the list up to a power of two: repeated values change nothing. */
function membership(field: string, values: readonly FieldValue[]): FilterTerm {
  const last = values.at(-1)
  if (last === undefined) return { field, kind: 'in', values }
  if (values.length === 1) return { field, kind: 'equal', values }
  const padded = [...values]
  for (let size = 2 ** Math.ceil(Math.log2(values.length)); padded.length < size;) padded.push(last)
  return { field, kind: 'in', values: padded }
}

/**
 * A range without the end that a place lies before: SQLite uses one upper and one lower bound of an index, and must not take
 * that of the range, from which it would walk to the place.
 */
export function dropBoundBehindCursor(
  where: WhereClause,
  { order, after }: Pick<Query, 'order' | 'after'>,
): WhereClause {
  const [[field, direction] = ['', 'asc'] as const] = order
  const condition = where[field]
  const place = after?.[0]
  if (typeof place !== 'number' || typeof condition !== 'object' || 'in' in condition) return where
  const { from, to } = condition
  if (direction === 'desc' && typeof to === 'number' && place <= to) {
    return { ...where, [field]: from === undefined ? {} : { from } }
  }
  if (direction === 'asc' && typeof from === 'number' && place >= from) {
    return { ...where, [field]: to === undefined ? {} : { to } }
  }
  return where
}

/**
 * What lies behind a place in an order, for what is sorted when it was found.
 * @throws Error for an order of both directions, in which a place can't be compared at once
 */
export function afterCursorSql(order: Query['order']): string {
  const [[, direction] = ['', 'asc'] as const] = order
  if (order.some(([, other]) => other !== direction)) throw new Error('only an order of one direction has places')
  const columns = order.map(([field]) => '+' + quoted(field)).join(', ')
  return `(${columns}) ${direction === 'asc' ? '>' : '<'} (${order.map(() => '?').join(', ')})`
}

/** Two filters of one shape share a statement. */
export const shapeOf = (terms: readonly FilterTerm[]) =>
  terms.map(({ field, kind, values }) => `${field} ${kind} ${values.length}`).join(',')

/** @param hidden true keeps SQLite from choosing an index for this term */
export function sqlOf({ field, kind, values }: FilterTerm, hidden: boolean): string {
  const column = (hidden ? '+' : '') + quoted(field)
  switch (kind) {
    case 'equal':
      return `${column} = ?`
    case 'in':
      return `${column} IN (${values.map(() => '?').join(', ')})`
    case 'from':
      return `${column} >= ?`
    case 'to':
      return `${column} <= ?`
    case 'above':
      return `${column} > ?`
    case 'below':
      return `${column} < ?`
    case 'between':
      return `${column} BETWEEN ? AND ?`
  }
}
