import type { Filter } from 'mongodb'
import type { FieldValue, Query } from '../../ports/read-store.ts'
import type { Held } from './shape.ts'

/**
 * What lies behind a place of an order, as the reaches of an index that hold it, nearest first: of two fields, what has the
 * same first value, then what has a later one. In one filter they would be an $or, of which it is the server's choice whether
 * it walks to the place.
 * @throws Error for an order of both directions, in which a place can't be compared
 */
export function reachesOf(
  filter: Filter<Held>,
  order: Query['order'],
  after: readonly FieldValue[],
): readonly Filter<Held>[] {
  const [[, direction] = ['', 'asc'] as const] = order
  if (order.some(([, other]) => other !== direction)) throw new Error('only an order of one direction has places')
  const later = direction === 'asc' ? '$gt' : '$lt'
  return order
    .map(([field], at) => {
      const same = order.slice(0, at).map(([name], index): Filter<Held> => ({ [name]: after[index] }))
      return { $and: [filter, ...same, { [field]: { [later]: after[at] } }] } as Filter<Held>
    })
    .toReversed()
}
