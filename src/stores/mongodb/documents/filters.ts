import type { Filter } from 'mongodb'
import {
  requireField,
  type Condition,
  type FieldValue,
  type ModelDeclaration,
  type Query,
  type WhereClause,
} from '../../ports/read-store.ts'
import { keyOf, type MongoDocument } from './stored-documents.ts'

/**
 * Texts compare by their UTF-8 bytes, which is MongoDB's order without a collation.
 * @throws Error for a field that the model does not have
 */
export function filterOf(declaration: ModelDeclaration, where: WhereClause): Filter<MongoDocument> {
  const filter: Record<string, unknown> = {}
  for (const [field, condition] of Object.entries(where)) {
    requireField(declaration, field)
    if (field === 'id' && isValueCondition(condition)) filter['_id'] = toMongoCondition(keysIn(condition))
    else {
      const term = toMongoCondition(condition)
      if (term !== undefined) filter[field] = term
    }
  }
  // Excludes tombstones, which have no fields; a condition on any other field excludes them already.
  if (Object.keys(filter).every((name) => name === '_id')) filter['id'] = { $exists: true }
  return filter as Filter<MongoDocument>
}

type ValueCondition = FieldValue | { readonly in: readonly FieldValue[] }

const isValueCondition = (condition: Condition): condition is ValueCondition =>
  typeof condition !== 'object' || 'in' in condition

const keysIn = (condition: ValueCondition): ValueCondition =>
  typeof condition === 'object' ? { in: condition.in.map(keyOf) } : keyOf(condition)

function toMongoCondition(condition: Condition): unknown {
  if (typeof condition !== 'object') return condition
  if ('in' in condition) return condition.in.length === 1 ? condition.in[0] : { $in: condition.in }
  const { from, to } = condition
  if (from === undefined && to === undefined) return undefined
  return { ...(from !== undefined && { $gte: from }), ...(to !== undefined && { $lte: to }) }
}

/** @throws Error for a field that the model does not have */
export function sortOf(declaration: ModelDeclaration, order: Query['order']): [string, 1 | -1][] {
  return order.map(([field, direction]) => {
    requireField(declaration, field)
    return [field, direction === 'asc' ? 1 : -1]
  })
}

export const matchesCondition = (value: FieldValue | undefined, condition: ValueCondition): boolean =>
  typeof condition === 'object' ? value !== undefined && condition.in.includes(value) : value === condition

/** The conditions by value, if all are on counted fields; otherwise undefined. */
export function toCountConditions(
  { counts }: ModelDeclaration,
  where: WhereClause,
): Readonly<Record<string, ValueCondition>> | undefined {
  if (counts.length === 0) return undefined
  const conditions: Record<string, ValueCondition> = {}
  for (const [field, condition] of Object.entries(where)) {
    if (!counts.includes(field) || !isValueCondition(condition)) return undefined
    conditions[field] = condition
  }
  return conditions
}
