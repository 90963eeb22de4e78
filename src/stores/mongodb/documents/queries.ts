import type { Filter } from 'mongodb'
import {
  directionOf,
  requireNames,
  type CountLimit,
  type Document,
  type FieldValue,
  type DocumentCount,
  type ModelDeclaration,
  type Query,
  type WhereClause,
} from '../../ports/read-store.ts'
import type { MongoDatabase } from '../connection.ts'
import { indexName, type BuildCollections } from './collections.ts'
import { isTombstone, keyOf, pickValues, type MongoDocument } from './stored-documents.ts'
import { filterOf, sortOf } from './filters.ts'
import { planCount, type CountGroup } from './count-groups.ts'

/**
 * Splits the condition "after the cursor" into one filter per field, nearest first: equal first value and later second
 * value, then later first value. A single filter would need $or, for which the server may scan up to the cursor.
 * @throws Error if the order mixes directions
 */
function indexRangeFilters(
  filter: Filter<MongoDocument>,
  order: Query['order'],
  after: readonly FieldValue[],
): readonly Filter<MongoDocument>[] {
  const operator = directionOf(order) === 'asc' ? '$gt' : '$lt'
  return order
    .map(([field], at) => {
      const equalities = order.slice(0, at).map(([name], index): Filter<MongoDocument> => ({ [name]: after[index] }))
      return { $and: [filter, ...equalities, { [field]: { [operator]: after[at] } }] } as Filter<MongoDocument>
    })
    .toReversed()
}

export type MongoQueries = {
  get(id: FieldValue, select: readonly string[]): Promise<Document | undefined>
  find(query: Query): Promise<Document[]>
  count(where: WhereClause, countLimit?: CountLimit): Promise<number>
  counts(where: WhereClause): Promise<readonly DocumentCount[]>
}

/** A build's queries, each one call. @throws Error for a field that the model does not have */
export function queriesOf(
  mongo: MongoDatabase,
  { documents, groups }: BuildCollections,
  declaration: ModelDeclaration,
): MongoQueries {
  async function groupsFor({ groups: groupIds }: NonNullable<ReturnType<typeof planCount>>) {
    const filter = groupIds === undefined ? {} : { _id: { $in: groupIds } }
    const projection = { _id: 0, of: 1, sums: 1 }
    return mongo.call(() => groups.find<Pick<CountGroup, 'of' | 'sums'>>(filter, { projection }).toArray())
  }

  return {
    async get(id, select) {
      requireNames(declaration, select)
      const projection = { _id: 0, id: 1, ...toProjection(select) }
      const stored = await mongo.call(() => documents.findOne<MongoDocument>({ _id: keyOf(id) }, { projection }))
      return stored === null || isTombstone(stored) ? undefined : pickValues(stored, select)
    },
    async find({ where, order, limit, offset, select, after, by }) {
      requireNames(declaration, select)
      const [filter, sort] = [filterOf(declaration, where), sortOf(declaration, order)]
      const projection = { _id: 0, ...toProjection(select) }
      const found: MongoDocument[] = []
      for (const indexRange of after === undefined ? [filter] : indexRangeFilters(filter, order, after)) {
        const remaining = limit - found.length
        if (remaining === 0) break
        const options = { sort, limit: remaining, skip: offset, batchSize: remaining, projection, ...toHintOption(by) }
        found.push(...(await mongo.call(() => documents.find<MongoDocument>(indexRange, options).toArray())))
      }
      return found.map((stored) => pickValues(stored, select))
    },
    async count(where, countLimit) {
      if (countLimit !== undefined) {
        const options = { limit: countLimit.upTo + 1, ...toHintOption(countLimit.by) }
        return mongo.call(() => documents.countDocuments(filterOf(declaration, where), options))
      }
      const plan = planCount(declaration, where)
      if (plan === undefined) {
        const filter = filterOf(declaration, where)
        return mongo.call(() => documents.countDocuments(filter))
      }
      return (await groupsFor(plan)).flatMap(plan.countsIn).reduce((total, { documents }) => total + documents, 0)
    },
    async counts(where) {
      const plan = planCount(declaration, where)
      if (plan === undefined) throw new Error(`${declaration.name} is not counted by ${Object.keys(where).join(', ')}`)
      return (await groupsFor(plan)).flatMap(plan.countsIn)
    },
  }
}

/** Of two indexes with the same prefix, the server may choose the one that does not cover the rest of the query. */
const toHintOption = (by: readonly string[] | undefined) => (by === undefined ? {} : { hint: indexName(by) })

const toProjection = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, 1]))
