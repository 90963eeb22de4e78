import type { FieldValue, Query } from '../../ports/read-store.ts'
import type { Term } from './conditions.ts'
import type { Access } from './index-choice.ts'

/** Combinations at most: SQLite takes 500 selects in one. */
const MOST = 256

type Arm = readonly Term[]

/**
 * The terms of each reach of an index that is walked along by itself; there is one with all terms, unless an index gives the
 * order of several together, or the query begins at a place in it.
 * @throws Error for more reaches than can be merged
 */
export function armsOf(
  terms: readonly Term[],
  access: Access,
  { order, after }: Pick<Query, 'order' | 'after'>,
): readonly Arm[] {
  if (access.by !== 'index' || !access.sorted) return [terms]
  const { merged = [] } = access
  let arms: readonly Arm[] = [terms.filter(({ field }) => !merged.includes(field))]
  for (const { field, values } of terms.filter((term) => merged.includes(term.field))) {
    // What fills a membership up would find its documents twice.
    const each = [...new Set(values)].map((value): Term => ({ field, kind: 'equal', values: [value] }))
    arms = arms.flatMap((arm) => each.map((term) => [term, ...arm]))
  }
  if (after !== undefined) arms = arms.flatMap((arm) => behind(order, after).map((place) => [...arm, ...place]))
  if (arms.length > MOST) throw new Error(`${arms.length} reaches of an index are more than can be merged`)
  return arms
}

/**
 * What lies behind a place: of two fields, what has the same first value, then what has a later one. Compared as a pair they
 * would be one reach, of which SQLite finds the beginning only by the first, where the second is the key.
 */
function behind(order: Query['order'], after: readonly FieldValue[]): Arm[] {
  const kind = order[0]?.[1] === 'desc' ? 'below' : 'above'
  const termAt = (at: number, kind: 'equal' | 'above' | 'below') => {
    const [[field], value] = [order[at] ?? [''], after[at]]
    return { field, kind, values: value === undefined ? [] : [value] } satisfies Term
  }
  return order
    .map((_, last) => order.slice(0, last + 1).map((_field, at) => termAt(at, at < last ? 'equal' : kind)))
    .toReversed()
}
