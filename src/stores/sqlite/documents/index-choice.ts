import type { ModelDeclaration, Query } from '../../ports/read-store.ts'
import type { Term } from './conditions.ts'
import { indexName, quoted } from './schema.ts'

/**
 * How a query reaches its documents. `merged`: the fields of the index whose values are each walked along by themselves, all
 * of them together giving the order.
 */
export type Access =
  | { readonly by: 'key' } // by id, whatever else is asked: at most as many rows as ids
  | { readonly by: 'index'; readonly name: string; readonly sorted: boolean; readonly merged?: readonly string[] }
  | { readonly by: 'table' } // no index fits: SQLite walks what it likes

/**
 * Chosen here, because SQLite knows nothing of the values: without statistics it takes an index that saves sorting
 * over one that finds three documents of a million. Fields that are counted by have few values and choose little.
 */
export function accessOf(
  { indexes, counts }: ModelDeclaration,
  terms: readonly Term[],
  order: Query['order'] = [],
  by?: Query['by'],
): Access {
  const kinds = new Map(terms.map((term) => [term.field, term.kind]))
  if (by !== undefined) return accessBy(by, kinds, order)
  if (kinds.get('id') === 'equal' || kinds.get('id') === 'in') return { by: 'key' }
  let best: { score: number; access: Access } = { score: -1, access: { by: 'table' } }
  for (const fields of indexes) {
    const { score, sorted, used } = rate(fields, kinds, counts, order)
    if ((used > 0 || (terms.length === 0 && sorted && order.length > 0)) && score > best.score)
      best = { score, access: { by: 'index', name: quoted(indexName(fields)), sorted } }
  }
  return best.access
}

/** Along an index that somebody named. */
function accessBy(fields: readonly string[], kinds: ReadonlyMap<string, Term['kind']>, order: Query['order']): Access {
  const isByValue = (field: string) => kinds.get(field) === 'equal' || kinds.get(field) === 'in'
  const end = fields.findIndex((field) => !isByValue(field))
  const first = end < 0 ? fields : fields.slice(0, end)
  const sorted = order.length > 0 && isSorted(fields.slice(first.length), order)
  const merged = first.filter((field) => kinds.get(field) === 'in')
  const name = quoted(indexName(fields))
  return { by: 'index', name, sorted, ...(sorted && merged.length > 0 && { merged }) }
}

/** Fields found by value outweigh flags, flags outweigh order, order outweighs a range; shorter indexes win a tie. */
function rate(
  fields: readonly string[],
  kinds: ReadonlyMap<string, Term['kind']>,
  counts: readonly string[],
  order: Query['order'],
) {
  let used = 0
  let score = 0
  let equal = true
  for (const field of fields) {
    const kind = kinds.get(field)
    const few = counts.includes(field)
    if (kind !== 'equal' && (kind !== 'in' || few)) break
    used++
    score += few ? 100 : 10_000
    equal &&= kind === 'equal'
  }
  const sorted = equal && isSorted(fields.slice(used), order)
  const ranged = kinds.has(fields[used] ?? '') ? 1 : 0
  return { used: used + ranged, sorted, score: score + (sorted ? 20 : 0) + ranged * 10 - fields.length / 10 }
}

/** The index's rest begins with the order, all in one direction. */
function isSorted(rest: readonly string[], order: Query['order']): boolean {
  return order.every(([field, direction], at) => rest[at] === field && direction === order[0]?.[1])
}
