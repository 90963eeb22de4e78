import type Database from 'better-sqlite3'
import { LRUCache } from 'lru-cache'
import {
  requireField,
  requireNames,
  type CountLimit,
  type Document,
  type FieldValue,
  type DocumentCount,
  type ModelDeclaration,
  type Query,
  type WhereClause,
} from '../../ports/read-store.ts'
import { afterCursorSql, dropSupersededBound, shapeOf, sqlOf, termsOf, type FilterTerm } from './conditions.ts'
import { indexName, quoteIdentifiers, quoteIdentifier } from './schema.ts'

export type SqliteQueries = {
  get(id: FieldValue, select: readonly string[]): Document | undefined
  find(query: Query): Document[]
  count: (where: WhereClause, countLimit?: CountLimit) => number
  counts: (where: WhereClause) => readonly DocumentCount[]
}

/** Prepares a statement for each shape of query. @throws Error for a field that the model does not have */
export function queriesOf(db: Database.Database, declaration: ModelDeclaration): SqliteQueries {
  const getStatements = createStatementCache<(values: FieldValue[]) => Document[]>()
  const findStatements = createStatementCache<(values: FieldValue[]) => Document[]>()
  const countsStatements = createStatementCache<Database.Statement<FieldValue[], Record<string, FieldValue>>>()
  const countStatements = createStatementCache<Database.Statement<FieldValue[], number | null>>()
  return {
    get(id, select) {
      const make = () => prepareRead(db, getSql(declaration, select), select)
      return getOrCreate(getStatements, select.join(), make)([id])[0]
    },
    find(query) {
      const { where, order, limit, offset, select, after = [], by } = query
      const terms = termsOf(dropSupersededBound(where, query))
      const access = chooseAccessPath(declaration, terms, order, by)
      const scans = indexRangeScans(terms, access, query)
      const shape = `${shapeOf(terms)};${scans.length};${order.join(';')};${after.length};${select.join()};${by?.join()}`
      const make = () => prepareRead(db, findSql(declaration, scans, access, query), select)
      const values = [...scans.flatMap(valuesOf), ...(isSorted(access) ? [] : after)]
      return getOrCreate(findStatements, shape, make)([...values, limit, offset])
    },
    counts(where) {
      const terms = termsOf(where)
      const make = () => db.prepare<FieldValue[], Record<string, FieldValue>>(countsSql(declaration, terms))
      const rows = getOrCreate(countsStatements, shapeOf(terms), make).all(...valuesOf(terms))
      return rows.map(({ documents, ...values }) => ({ values, documents: Number(documents) }))
    },
    count(where, countLimit) {
      const terms = termsOf(where)
      const make = () => db.prepare<FieldValue[], number | null>(countSql(declaration, terms, countLimit)).pluck()
      const values = valuesOf(terms)
      const shape = `${shapeOf(terms)};${countLimit?.by.join()}`
      return getOrCreate(countStatements, shape, make).get(...values, ...(countLimit ? [countLimit.upTo + 1] : [])) ?? 0
    },
  }
}

const createStatementCache = <Value extends object>() => new LRUCache<string, Value>({ max: MAX_CACHED_STATEMENTS })

/** Prepared statements kept per kind. Bounded because clients determine the shapes. */
const MAX_CACHED_STATEMENTS = 500

/** With a single column, rows are read without an object each, which saves two thirds of the time of a page. */
function prepareRead(
  db: Database.Database,
  sql: string,
  select: readonly string[],
): (values: FieldValue[]) => Document[] {
  const [name, ...others] = select
  if (name === undefined || others.length > 0) {
    const rows = db.prepare<FieldValue[], Document>(sql)
    return (values) => rows.all(...values)
  }
  const texts = db.prepare<FieldValue[], FieldValue>(sql).pluck()
  return (values) => texts.all(...values).map((value) => ({ [name]: value }))
}

function getSql(declaration: ModelDeclaration, select: readonly string[]): string {
  return `SELECT ${columnsOf(declaration, select)} FROM documents WHERE id = ?`
}

function columnsOf(declaration: ModelDeclaration, select: readonly string[]): string {
  requireNames(declaration, select)
  return quoteIdentifiers(select)
}

function getOrCreate<Value extends object>(cache: LRUCache<string, Value>, key: string, make: () => Value): Value {
  const cached = cache.get(key)
  if (cached !== undefined) return cached
  const value = make()
  cache.set(key, value)
  return value
}

const valuesOf = (terms: readonly FilterTerm[]) => terms.flatMap((term) => term.values)

/**
 * How a query finds its documents. `merged`: the index fields with an `in` condition; the index is scanned once per
 * combination of their values, and the scans are merged in order.
 */
type QueryAccessPath =
  | { readonly by: 'key' } // by id, whatever the other conditions: at most as many rows as ids
  | { readonly by: 'index'; readonly name: string; readonly sorted: boolean; readonly merged?: readonly string[] }
  | { readonly by: 'table' }

const isSorted = (access: QueryAccessPath) => access.by === 'index' && access.sorted

function countsSql({ name, counts }: ModelDeclaration, terms: readonly FilterTerm[]): string {
  for (const { field } of terms) if (!counts.includes(field)) throw new Error(`${name} is not counted by ${field}`)
  return `SELECT ${quoteIdentifiers([...counts, 'documents'])} FROM counts ${whereSql(terms, false)}`
}

/** With access by key, the other terms are hidden from SQLite's index selection. */
function whereSql(terms: readonly FilterTerm[], byKey: boolean, cursorConditions: readonly string[] = []): string {
  const conditions = [...terms.map((term) => sqlOf(term, byKey && term.field !== 'id')), ...cursorConditions]
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
}

// no index fits: SQLite's choice

/**
 * Chooses the index here because SQLite has no statistics: without them, it prefers an index that avoids a sort to one
 * that finds three of a million documents. Fields in `counts` have few distinct values and select little.
 */
export function chooseAccessPath(
  { indexes, counts }: ModelDeclaration,
  terms: readonly FilterTerm[],
  order: Query['order'] = [],
  by?: Query['by'],
): QueryAccessPath {
  const operators = new Map(terms.map((term) => [term.field, term.operator]))
  if (by !== undefined) return accessPathForIndex(by, operators, order)
  if (operators.get('id') === 'equal' || operators.get('id') === 'in') return { by: 'key' }
  let best: { score: number; access: QueryAccessPath } = { score: -1, access: { by: 'table' } }
  for (const fields of indexes) {
    const { score, sorted, used } = scoreIndex(fields, operators, counts, order)
    if ((used > 0 || (terms.length === 0 && sorted && order.length > 0)) && score > best.score)
      best = { score, access: { by: 'index', name: quoteIdentifier(indexName(fields)), sorted } }
  }
  return best.access
}

function accessPathForIndex(
  fields: readonly string[],
  operators: ReadonlyMap<string, FilterTerm['operator']>,
  order: Query['order'],
): QueryAccessPath {
  const isByValue = (field: string) => operators.get(field) === 'equal' || operators.get(field) === 'in'
  const end = fields.findIndex((field) => !isByValue(field))
  const first = end < 0 ? fields : fields.slice(0, end)
  const sorted = order.length > 0 && matchesOrder(fields.slice(first.length), order)
  const merged = first.filter((field) => operators.get(field) === 'in')
  const name = quoteIdentifier(indexName(fields))
  return { by: 'index', name, sorted, ...(sorted && merged.length > 0 && { merged }) }
}

/** Whether the index's remaining fields begin with the order, all in one direction. */
function matchesOrder(remainingFields: readonly string[], order: Query['order']): boolean {
  return order.every(([field, direction], at) => remainingFields[at] === field && direction === order[0]?.[1])
}

/**
 * Selective equality fields outweigh low-cardinality ones, those outweigh the order, the order outweighs a range;
 * shorter indexes win ties.
 */
function scoreIndex(
  fields: readonly string[],
  operators: ReadonlyMap<string, FilterTerm['operator']>,
  counts: readonly string[],
  order: Query['order'],
) {
  let used = 0
  let score = 0
  let equal = true
  for (const field of fields) {
    const operator = operators.get(field)
    const hasFewValues = counts.includes(field)
    if (operator !== 'equal' && (operator !== 'in' || hasFewValues)) break
    used++
    score += hasFewValues ? 100 : 10_000
    equal &&= operator === 'equal'
  }
  const sorted = equal && matchesOrder(fields.slice(used), order)
  const ranged = operators.has(fields[used] ?? '') ? 1 : 0
  return { used: used + ranged, sorted, score: score + (sorted ? 20 : 0) + ranged * 10 - fields.length / 10 }
}

type RangeScan = readonly FilterTerm[]

/**
 * The terms of each index range scan. Usually one scan with all terms; several if `in` conditions are merged in index
 * order or the query has a cursor.
 * @throws Error if there are more scans than can be merged
 */
export function indexRangeScans(
  terms: readonly FilterTerm[],
  access: QueryAccessPath,
  { order, after }: Pick<Query, 'order' | 'after'>,
): readonly RangeScan[] {
  if (access.by !== 'index' || !access.sorted) return [terms]
  const { merged = [] } = access
  let scans: readonly RangeScan[] = [terms.filter(({ field }) => !merged.includes(field))]
  for (const { field, values } of terms.filter((term) => merged.includes(term.field))) {
    // Remove the padding: a repeated value would return its documents twice.
    const each = [...new Set(values)].map((value): FilterTerm => ({ field, operator: 'equal', values: [value] }))
    scans = scans.flatMap((scan) => each.map((term) => [term, ...scan]))
  }
  if (after !== undefined)
    scans = scans.flatMap((scan) => scansAfterCursor(order, after).map((cursorTerms) => [...scan, ...cursorTerms]))
  if (scans.length > MAX_RANGE_SCANS)
    throw new Error(`a query may need at most ${MAX_RANGE_SCANS} index range scans, got ${scans.length}`)
  return scans
}

/**
 * Splits the condition "after the cursor" into one scan per field: equal first value and later second value, then later
 * first value. As a row comparison it would be one scan, for which SQLite seeks by the first field only if the second
 * is the key.
 */
function scansAfterCursor(order: Query['order'], after: readonly FieldValue[]): RangeScan[] {
  const operator = order[0]?.[1] === 'desc' ? 'below' : 'above'
  const termAt = (at: number, operator: 'equal' | 'above' | 'below') => {
    const [[field], value] = [order[at] ?? [''], after[at]]
    return { field, operator, values: value === undefined ? [] : [value] } satisfies FilterTerm
  }
  return order
    .map((_, last) => order.slice(0, last + 1).map((_field, at) => termAt(at, at < last ? 'equal' : operator)))
    .toReversed()
}

/** Maximum number of merged scans: SQLite allows 500 terms in a compound SELECT. */
const MAX_RANGE_SCANS = 256

/**
 * If rows must be sorted or merged, only ids are; texts are read for the resulting page.
 * @param scans the terms of each index range scan
 */
export function findSql(
  declaration: ModelDeclaration,
  scans: readonly (readonly FilterTerm[])[],
  access: QueryAccessPath,
  { order, select, after }: Pick<Query, 'order' | 'select' | 'after'>,
): string {
  for (const [field] of order) requireField(declaration, field)
  const columns = columnsOf(declaration, select)
  const cursorConditions = after === undefined || isSorted(access) ? [] : [afterCursorSql(order)]
  const page = `${orderSql(order, access)} LIMIT ? OFFSET ?`
  const fromClauses = scans.map((terms) => fromClause(declaration, terms, access, cursorConditions))
  const isOne = fromClauses.length === 1
  if (isOne && isSorted(access)) return `SELECT ${columns} ${fromClauses.join('')} ${page}`
  const ids = isOne
    ? `SELECT id ${fromClauses.join('')} ${page}`
    : `SELECT id FROM (${unionAll(fromClauses, order)} ${page})`
  return `SELECT ${columns} FROM documents WHERE id IN (${ids}) ${orderSql(order, { by: 'key' })}`
}

function orderSql(order: Query['order'], access: QueryAccessPath): string {
  if (order.length === 0) return ''
  const hidden = access.by === 'key' ? '+' : ''
  return `ORDER BY ${order.map(([field, direction]) => `${hidden}${quoteIdentifier(field)} ${direction}`).join(', ')}`
}

function fromClause(
  declaration: ModelDeclaration,
  terms: readonly FilterTerm[],
  access: QueryAccessPath,
  cursorConditions: readonly string[] = [],
): string {
  for (const { field } of terms) requireField(declaration, field)
  const hint = access.by === 'index' ? `INDEXED BY ${access.name}` : ''
  return `FROM documents ${hint} ${whereSql(terms, access.by === 'key', cursorConditions)}`
}

/** SQLite merges the ordered scans and reads only as far as the page needs. */
function unionAll(fromClauses: readonly string[], order: Query['order']): string {
  const names = new Set(['id', ...order.map(([field]) => field)])
  return fromClauses.map((clause) => `SELECT ${quoteIdentifiers([...names])} ${clause}`).join(' UNION ALL ')
}

/** Sums the maintained counts if all terms are on counted fields; otherwise counts along an index. */
export function countSql(declaration: ModelDeclaration, terms: readonly FilterTerm[], countLimit?: CountLimit): string {
  const { counts } = declaration
  if (countLimit !== undefined) {
    return `SELECT COUNT(*) FROM (SELECT 1 ${fromClause(declaration, terms, chooseAccessPath(declaration, terms, [], countLimit.by))} LIMIT ?)`
  }
  if (counts.length > 0 && terms.every(({ field }) => counts.includes(field)))
    return `SELECT SUM(documents) FROM counts ${whereSql(terms, false)}`
  return `SELECT COUNT(*) ${fromClause(declaration, terms, chooseAccessPath(declaration, terms))}`
}
