import type { Condition, FieldValue, Where } from '../../ports/read-store.ts'
import { quoted } from './schema.ts'

/** A filter on one field. `size` of a membership is padded, so that few statements serve lists of any length. */
export type Term =
  | { readonly field: string; readonly kind: 'equal'; readonly values: readonly FieldValue[] }
  | { readonly field: string; readonly kind: 'in'; readonly values: readonly FieldValue[] }
  | { readonly field: string; readonly kind: 'from' | 'to' | 'between'; readonly values: readonly FieldValue[] }

export function termsOf(where: Where): Term[] {
  const terms: Term[] = []
  for (const field in where) {
    const condition = where[field]
    if (condition !== undefined) {
      const term = termOf(field, condition)
      if (term !== undefined) terms.push(term)
    }
  }
  return terms
}

function termOf(field: string, condition: Condition): Term | undefined {
  if (typeof condition !== 'object') return { field, kind: 'equal', values: [condition] }
  if ('in' in condition) return membership(field, condition.in)
  const { from, to } = condition
  if (from === undefined) return to === undefined ? undefined : { field, kind: 'to', values: [to] }
  return to === undefined ? { field, kind: 'from', values: [from] } : { field, kind: 'between', values: [from, to] }
}

/** The last value fills the list up to a power of two: repeated values change nothing. */
function membership(field: string, values: readonly FieldValue[]): Term {
  const last = values.at(-1)
  if (last === undefined) return { field, kind: 'in', values }
  if (values.length === 1) return { field, kind: 'equal', values }
  const padded = [...values]
  for (let size = 2 ** Math.ceil(Math.log2(values.length)); padded.length < size;) padded.push(last)
  return { field, kind: 'in', values: padded }
}

/** Two filters of one shape share a statement. */
export const shapeOf = (terms: readonly Term[]) =>
  terms.map(({ field, kind, values }) => `${field} ${kind} ${values.length}`).join(',')

/** @param hidden true keeps SQLite from choosing an index for this term */
export function sqlOf({ field, kind, values }: Term, hidden: boolean): string {
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
    case 'between':
      return `${column} BETWEEN ? AND ?`
  }
}
