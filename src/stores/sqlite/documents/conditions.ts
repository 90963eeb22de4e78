import { directionOf, type Condition, type FieldValue, type Query, type WhereClause } from '../../ports/read-store.ts'
import { quoteIdentifier } from './schema.ts'

/** A filter on one field. The values of `in` are padded to a power of two, so that few statements serve lists of any length. */
export type FilterTerm =
  | { readonly field: string; readonly operator: 'equal'; readonly values: readonly FieldValue[] }
  | { readonly field: string; readonly operator: 'in'; readonly values: readonly FieldValue[] }
  | {
      readonly field: string
      readonly operator: 'from' | 'to' | 'between' | 'above' | 'below'
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
  if (typeof condition !== 'object') return { field, operator: 'equal', values: [condition] }
  if ('in' in condition) return membership(field, condition.in)
  const { from, to } = condition
  if (from === undefined) return to === undefined ? undefined : { field, operator: 'to', values: [to] }
  return to === undefined
    ? { field, operator: 'from', values: [from] }
    : { field, operator: 'between', values: [from, to] }
}

/** Padding repeats the last value, which does not change the result. */
function membership(field: string, values: readonly FieldValue[]): FilterTerm {
  const last = values.at(-1)
  if (last === undefined) return { field, operator: 'in', values }
  if (values.length === 1) return { field, operator: 'equal', values }
  const padded = [...values]
  for (let size = 2 ** Math.ceil(Math.log2(values.length)); padded.length < size;) padded.push(last)
  return { field, operator: 'in', values: padded }
}

/**
 * Drops the bound of a range that the cursor supersedes. SQLite uses only one lower and one upper bound of an index;
 * with the range's bound it would scan from there up to the cursor.
 */
export function dropSupersededBound(where: WhereClause, { order, after }: Pick<Query, 'order' | 'after'>): WhereClause {
  const [[field, direction] = ['', 'asc'] as const] = order
  const condition = where[field]
  const cursorValue = after?.[0]
  if (typeof cursorValue !== 'number' || typeof condition !== 'object' || 'in' in condition) return where
  const { from, to } = condition
  if (direction === 'desc' && typeof to === 'number' && cursorValue <= to) {
    return { ...where, [field]: from === undefined ? {} : { from } }
  }
  if (direction === 'asc' && typeof from === 'number' && cursorValue >= from) {
    return { ...where, [field]: to === undefined ? {} : { to } }
  }
  return where
}

/**
 * The condition for rows after a cursor, for results that are sorted after filtering.
 * @throws Error if the order mixes directions, which a row comparison cannot express
 */
export function afterCursorSql(order: Query['order']): string {
  const columns = order.map(([field]) => '+' + quoteIdentifier(field)).join(', ')
  return `(${columns}) ${directionOf(order) === 'asc' ? '>' : '<'} (${order.map(() => '?').join(', ')})`
}

/** Filters of the same shape share a prepared statement. */
export const shapeOf = (terms: readonly FilterTerm[]) =>
  terms.map(({ field, operator, values }) => `${field} ${operator} ${values.length}`).join(',')

/** @param hidden true keeps SQLite from using an index for this term */
export function sqlOf({ field, operator, values }: FilterTerm, hidden: boolean): string {
  const column = (hidden ? '+' : '') + quoteIdentifier(field)
  switch (operator) {
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
