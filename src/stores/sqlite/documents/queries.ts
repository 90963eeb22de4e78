import type Database from 'better-sqlite3'
import { LRUCache } from 'lru-cache'
import type {
  CountLimit,
  Document,
  FieldValue,
  DocumentCount,
  ModelDeclaration,
  Query,
  WhereClause,
} from '../../ports/read-store.ts'
import { afterCursorSql, dropBoundBehindCursor, shapeOf, sqlOf, termsOf, type FilterTerm } from './conditions.ts'
import { indexName, quoteIdentifiers, quoted } from './schema.ts'

/**
 * How a query reaches its documents. `merged`: the fields of the index whose values are each walked along by themselves, all
 * of them together giving the order.
 */
export type QueryAccessPath =
  | { readonly by: 'key' } // by id, whatever else is asked: at most as many rows as ids
  | { readonly by: 'index'; readonly name: string; readonly sorted: boolean; readonly merged?: readonly string[] }
  | { readonly by: 'table' } // no index fits: SQLite walks what it likes

/**
 * Chosen here, because SQLite knows nothing of the values: without statistics it takes an index that saves sorting
 * over one that finds three documents of a million. Fields that are counted by have few values and choose little.
 */
export function chooseAccessPath(
  { indexes, counts }: ModelDeclaration,
  terms: readonly FilterTerm[],
  order: Query['order'] = [],
  by?: Query['by'],
): QueryAccessPath {
  const kinds = new Map(terms.map((term) => [term.field, term.kind]))
  if (by !== undefined) return accessPathForIndex(by, kinds, order)
  if (kinds.get('id') === 'equal' || kinds.get('id') === 'in') return { by: 'key' }
  let best: { score: number; access: QueryAccessPath } = { score: -1, access: { by: 'table' } }
  for (const fields of indexes) {
    const { score, sorted, used } = scoreIndex(fields, kinds, counts, order)
    if ((used > 0 || (terms.length === 0 && sorted && order.length > 0)) && score > best.score)
      best = { score, access: { by: 'index', name: quoted(indexName(fields)), sorted } }
  }
  return best.access
}

/** Along an index that somebody named. */
function accessPathForIndex(
  fields: readonly string[],
  kinds: ReadonlyMap<string, FilterTerm['kind']>,
  order: Query['order'],
): QueryAccessPath {
  const isByValue = (field: string) => kinds.get(field) === 'equal' || kinds.get(field) === 'in'
  const end = fields.findIndex((field) => !isByValue(field))
  const first = end < 0 ? fields : fields.slice(0, end)
  const sorted = order.length > 0 && matchesOrder(fields.slice(first.length), order)
  const merged = first.filter((field) => kinds.get(field) === 'in')
  const name = quoted(indexName(fields))
  return { by: 'index', name, sorted, ...(sorted && merged.length > 0 && { merged }) }
}

/** Fields found by value outweigh flags, flags outweigh order, order outweighs a range; shorter indexes win a tie. */
function scoreIndex(
  fields: readonly string[],
  kinds: ReadonlyMap<string, FilterTerm['kind']>,
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
  const sorted = equal && matchesOrder(fields.slice(used), order)
  const ranged = kinds.has(fields[used] ?? '') ? 1 : 0
  return { used: used + ranged, sorted, score: score + (sorted ? 20 : 0) + ranged * 10 - fields.length / 10 }
}

/** The index's rest begins with the order, all in one direction. */
function matchesOrder(rest: readonly string[], order: Query['order']): boolean {
  return order.every(([field, direction], at) => rest[at] === field && direction === order[0]?.[1])
}

/** Combinations at most: SQLite takes 500 selects in one. */
const MAX_RANGE_SCANS = 256

type RangeScan = readonly FilterTerm[]

/**
 * The terms of each reach of an index that is walked along by itself; there is one with all terms, unless an index gives the
 * order of several together, or the query begins at a place in it.
 * @throws Error for more reaches than can be merged
 */
export function indexRangeScans(
  terms: readonly FilterTerm[],
  access: QueryAccessPath,
  { order, after }: Pick<Query, 'order' | 'after'>,
): readonly RangeScan[] {
  if (access.by !== 'index' || !access.sorted) return [terms]
  const { merged = [] } = access
  let arms: readonly RangeScan[] = [terms.filter(({ field }) => !merged.includes(field))]
  for (const { field, values } of terms.filter((term) => merged.includes(term.field))) {
    // What fills a membership up would find its documents twice.
    const each = [...new Set(values)].map((value): FilterTerm => ({ field, kind: 'equal', values: [value] }))
    arms = arms.flatMap((arm) => each.map((term) => [term, ...arm]))
  }
  if (after !== undefined)
    arms = arms.flatMap((arm) => scansAfterCursor(order, after).map((place) => [...arm, ...place]))
  if (arms.length > MAX_RANGE_SCANS) throw new Error(`${arms.length} reaches of an index are more than can be merged`)
  return arms
}

/**
 * What lies behind a place: of two fields, what has the same first value, then what has a later one. Compared as a pair they
 * would be one reach, of which SQLite finds the beginning only by the first, where the second is the key.
 */
function scansAfterCursor(order: Query['order'], after: readonly FieldValue[]): RangeScan[] {
  const kind = order[0]?.[1] === 'desc' ? 'below' : 'above'
  const termAt = (at: number, kind: 'equal' | 'above' | 'below') => {
    const [[field], value] = [order[at] ?? [''], after[at]]
    return { field, kind, values: value === undefined ? [] : [value] } satisfies FilterTerm
  }
  return order
    .map((_, last) => order.slice(0, last + 1).map((_field, at) => termAt(at, at < last ? 'equal' : kind)))
    .toReversed()
}

export type SqliteQueries = {
  get(id: FieldValue, select: readonly string[]): Document | undefined
  find(query: Query): Document[]
  count: (where: WhereClause, bounded?: CountLimit) => number
  counts: (where: WhereClause) => readonly DocumentCount[]
}

/** Every shape of query is prepared once. @throws Error naming a field that the model does not have */
export function queriesOf(db: Database.Database, declaration: ModelDeclaration): SqliteQueries {
  const gets = createStatementCache<(values: FieldValue[]) => Document[]>()
  const finds = createStatementCache<(values: FieldValue[]) => Document[]>()
  const kept = createStatementCache<Database.Statement<FieldValue[], Record<string, FieldValue>>>()
  const sums = createStatementCache<Database.Statement<FieldValue[], number | null>>()
  return {
    get(id, select) {
      const make = () => prepareRead(db, getSql(declaration, select), select)
      return getOrCreate(gets, select.join(), make)([id])[0]
    },
    find(query) {
      const { where, order, limit, offset, select, after = [], by } = query
      const terms = termsOf(dropBoundBehindCursor(where, query))
      const access = chooseAccessPath(declaration, terms, order, by)
      const arms = indexRangeScans(terms, access, query)
      const shape = `${shapeOf(terms)};${arms.length};${order.join(';')};${after.length};${select.join()};${by?.join()}`
      const make = () => prepareRead(db, findSql(declaration, arms, access, query), select)
      const values = [...arms.flatMap(valuesOf), ...(isSorted(access) ? [] : after)]
      return getOrCreate(finds, shape, make)([...values, limit, offset])
    },
    counts(where) {
      const terms = termsOf(where)
      const make = () => db.prepare<FieldValue[], Record<string, FieldValue>>(countsSql(declaration, terms))
      const rows = getOrCreate(kept, shapeOf(terms), make).all(...valuesOf(terms))
      return rows.map(({ documents, ...values }) => ({ values, documents: Number(documents) }))
    },
    count(where, bounded) {
      const terms = termsOf(where)
      const make = () => db.prepare<FieldValue[], number | null>(countSql(declaration, terms, bounded)).pluck()
      const values = valuesOf(terms)
      const shape = `${shapeOf(terms)};${bounded?.by.join()}`
      return getOrCreate(sums, shape, make).get(...values, ...(bounded ? [bounded.upTo + 1] : [])) ?? 0
    },
  }
}

/** One column is read without an object a row, which takes a third of the time of a page. */
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

/** Shapes of each kind that stay prepared: callers choose the shapes, so that without a bound memory were theirs. */
const SHAPES = 500

const createStatementCache = <Value extends object>() => new LRUCache<string, Value>({ max: SHAPES })

function getOrCreate<Value extends object>(known: LRUCache<string, Value>, key: string, make: () => Value): Value {
  const before = known.get(key)
  if (before !== undefined) return before
  const value = make()
  known.set(key, value)
  return value
}

const valuesOf = (terms: readonly FilterTerm[]) => terms.flatMap((term) => term.values)

function getSql(declaration: ModelDeclaration, select: readonly string[]): string {
  return `SELECT ${columnsOf(declaration, select)} FROM documents WHERE id = ?`
}

/**
 * Where rows are sorted or merged, ids are, and texts are read only for the page.
 * @param arms the terms of each reach that `access` walks along
 */
export function findSql(
  declaration: ModelDeclaration,
  arms: readonly (readonly FilterTerm[])[],
  access: QueryAccessPath,
  { order, select, after }: Pick<Query, 'order' | 'select' | 'after'>,
): string {
  for (const [field] of order) requireField(declaration, field)
  const columns = columnsOf(declaration, select)
  const behind = after === undefined || isSorted(access) ? [] : [afterCursorSql(order)]
  const page = `${orderSql(order, access)} LIMIT ? OFFSET ?`
  const reaches = arms.map((terms) => fromClause(declaration, terms, access, behind))
  const isOne = reaches.length === 1
  if (isOne && isSorted(access)) return `SELECT ${columns} ${reaches.join('')} ${page}`
  const ids = isOne ? `SELECT id ${reaches.join('')} ${page}` : `SELECT id FROM (${unionAll(reaches, order)} ${page})`
  return `SELECT ${columns} FROM documents WHERE id IN (${ids}) ${orderSql(order, { by: 'key' })}`
}

const isSorted = (access: QueryAccessPath) => access.by === 'index' && access.sorted

/** SQLite walks along all of them at once, as far as the page needs. */
function unionAll(reaches: readonly string[], order: Query['order']): string {
  const names = new Set(['id', ...order.map(([field]) => field)])
  return reaches.map((reach) => `SELECT ${quoteIdentifiers([...names])} ${reach}`).join(' UNION ALL ')
}

/** A sum over kept counts where only counted fields are asked for, else a walk along an index. */
export function countSql(declaration: ModelDeclaration, terms: readonly FilterTerm[], bounded?: CountLimit): string {
  const { counts } = declaration
  if (bounded !== undefined) {
    return `SELECT COUNT(*) FROM (SELECT 1 ${fromClause(declaration, terms, chooseAccessPath(declaration, terms, [], bounded.by))} LIMIT ?)`
  }
  if (counts.length > 0 && terms.every(({ field }) => counts.includes(field)))
    return `SELECT SUM(documents) FROM counts ${whereSql(terms, false)}`
  return `SELECT COUNT(*) ${fromClause(declaration, terms, chooseAccessPath(declaration, terms))}`
}

function countsSql({ name, counts }: ModelDeclaration, terms: readonly FilterTerm[]): string {
  for (const { field } of terms) if (!counts.includes(field)) throw new Error(`${name} is not counted by ${field}`)
  return `SELECT ${quoteIdentifiers([...counts, 'documents'])} FROM counts ${whereSql(terms, false)}`
}

/** @param behind a condition beside the terms, if any */
function fromClause(
  declaration: ModelDeclaration,
  terms: readonly FilterTerm[],
  access: QueryAccessPath,
  behind: readonly string[] = [],
): string {
  for (const { field } of terms) requireField(declaration, field)
  const hint = access.by === 'index' ? `INDEXED BY ${access.name}` : ''
  return `FROM documents ${hint} ${whereSql(terms, access.by === 'key', behind)}`
}

/** With access by key all other terms are hidden from SQLite's choice of an index. */
function whereSql(terms: readonly FilterTerm[], byKey: boolean, behind: readonly string[] = []): string {
  const conditions = [...terms.map((term) => sqlOf(term, byKey && term.field !== 'id')), ...behind]
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
}

function orderSql(order: Query['order'], access: QueryAccessPath): string {
  if (order.length === 0) return ''
  const hidden = access.by === 'key' ? '+' : ''
  return `ORDER BY ${order.map(([field, direction]) => `${hidden}${quoted(field)} ${direction}`).join(', ')}`
}

function columnsOf(declaration: ModelDeclaration, select: readonly string[]): string {
  for (const name of select) {
    if (name !== 'revision' && !declaration.texts.includes(name)) requireField(declaration, name)
  }
  return quoteIdentifiers(select)
}

function requireField({ name, fields }: ModelDeclaration, field: string): void {
  if (!Object.hasOwn(fields, field)) throw new Error(`${name} has no field ${field}`)
}
