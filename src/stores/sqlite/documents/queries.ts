import type Database from 'better-sqlite3'
import { LRUCache } from 'lru-cache'
import type { Bounded, Document, FieldValue, Kept, ModelDeclaration, Query, Where } from '../../ports/read-store.ts'
import { armsOf } from './arms.ts'
import { behindSql, cutAt, shapeOf, sqlOf, termsOf, type Term } from './conditions.ts'
import { accessOf, type Access } from './index-choice.ts'
import { list, quoted } from './schema.ts'

export type Queries = {
  get(id: FieldValue, select: readonly string[]): Document | undefined
  find(query: Query): Document[]
  count: (where: Where, bounded?: Bounded) => number
  counts: (where: Where) => readonly Kept[]
}

/** Every shape of query is prepared once. @throws Error naming a field that the model does not have */
export function queriesOf(db: Database.Database, declaration: ModelDeclaration): Queries {
  const gets = shapes<(values: FieldValue[]) => Document[]>()
  const finds = shapes<(values: FieldValue[]) => Document[]>()
  const kept = shapes<Database.Statement<FieldValue[], Record<string, FieldValue>>>()
  const sums = shapes<Database.Statement<FieldValue[], number | null>>()
  return {
    get(id, select) {
      const make = () => reading(db, getSql(declaration, select), select)
      return remembered(gets, select.join(), make)([id])[0]
    },
    find(query) {
      const { where, order, limit, offset, select, after = [], by } = query
      const terms = termsOf(cutAt(where, query))
      const access = accessOf(declaration, terms, order, by)
      const arms = armsOf(terms, access, query)
      const shape = `${shapeOf(terms)};${arms.length};${order.join(';')};${after.length};${select.join()};${by?.join()}`
      const make = () => reading(db, findSql(declaration, arms, access, query), select)
      const values = [...arms.flatMap(valuesOf), ...(isSorted(access) ? [] : after)]
      return remembered(finds, shape, make)([...values, limit, offset])
    },
    counts(where) {
      const terms = termsOf(where)
      const make = () => db.prepare<FieldValue[], Record<string, FieldValue>>(countsSql(declaration, terms))
      const rows = remembered(kept, shapeOf(terms), make).all(...valuesOf(terms))
      return rows.map(({ documents, ...values }) => ({ values, documents: Number(documents) }))
    },
    count(where, bounded) {
      const terms = termsOf(where)
      const make = () => db.prepare<FieldValue[], number | null>(countSql(declaration, terms, bounded)).pluck()
      const values = valuesOf(terms)
      const shape = `${shapeOf(terms)};${bounded?.by.join()}`
      return remembered(sums, shape, make).get(...values, ...(bounded ? [bounded.upTo + 1] : [])) ?? 0
    },
  }
}

/** One column is read without an object a row, which takes a third of the time of a page. */
function reading(db: Database.Database, sql: string, select: readonly string[]): (values: FieldValue[]) => Document[] {
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

const shapes = <Value extends object>() => new LRUCache<string, Value>({ max: SHAPES })

function remembered<Value extends object>(known: LRUCache<string, Value>, key: string, make: () => Value): Value {
  const before = known.get(key)
  if (before !== undefined) return before
  const value = make()
  known.set(key, value)
  return value
}

const valuesOf = (terms: readonly Term[]) => terms.flatMap((term) => term.values)

function getSql(declaration: ModelDeclaration, select: readonly string[]): string {
  return `SELECT ${columnsOf(declaration, select)} FROM documents WHERE id = ?`
}

/**
 * Where rows are sorted or merged, ids are, and texts are read only for the page.
 * @param arms the terms of each reach that `access` walks along
 */
export function findSql(
  declaration: ModelDeclaration,
  arms: readonly (readonly Term[])[],
  access: Access,
  { order, select, after }: Pick<Query, 'order' | 'select' | 'after'>,
): string {
  for (const [field] of order) requireField(declaration, field)
  const columns = columnsOf(declaration, select)
  const behind = after === undefined || isSorted(access) ? [] : [behindSql(order)]
  const page = `${orderSql(order, access)} LIMIT ? OFFSET ?`
  const reaches = arms.map((terms) => from(declaration, terms, access, behind))
  const isOne = reaches.length === 1
  if (isOne && isSorted(access)) return `SELECT ${columns} ${reaches.join('')} ${page}`
  const ids = isOne ? `SELECT id ${reaches.join('')} ${page}` : `SELECT id FROM (${merged(reaches, order)} ${page})`
  return `SELECT ${columns} FROM documents WHERE id IN (${ids}) ${orderSql(order, { by: 'key' })}`
}

const isSorted = (access: Access) => access.by === 'index' && access.sorted

/** SQLite walks along all of them at once, as far as the page needs. */
function merged(reaches: readonly string[], order: Query['order']): string {
  const names = new Set(['id', ...order.map(([field]) => field)])
  return reaches.map((reach) => `SELECT ${list([...names])} ${reach}`).join(' UNION ALL ')
}

/** A sum over kept counts where only counted fields are asked for, else a walk along an index. */
export function countSql(declaration: ModelDeclaration, terms: readonly Term[], bounded?: Bounded): string {
  const { counts } = declaration
  if (bounded !== undefined) {
    return `SELECT COUNT(*) FROM (SELECT 1 ${from(declaration, terms, accessOf(declaration, terms, [], bounded.by))} LIMIT ?)`
  }
  if (counts.length > 0 && terms.every(({ field }) => counts.includes(field)))
    return `SELECT SUM(documents) FROM counts ${whereSql(terms, false)}`
  return `SELECT COUNT(*) ${from(declaration, terms, accessOf(declaration, terms))}`
}

function countsSql({ name, counts }: ModelDeclaration, terms: readonly Term[]): string {
  for (const { field } of terms) if (!counts.includes(field)) throw new Error(`${name} is not counted by ${field}`)
  return `SELECT ${list([...counts, 'documents'])} FROM counts ${whereSql(terms, false)}`
}

/** @param behind a condition beside the terms, if any */
function from(
  declaration: ModelDeclaration,
  terms: readonly Term[],
  access: Access,
  behind: readonly string[] = [],
): string {
  for (const { field } of terms) requireField(declaration, field)
  const hint = access.by === 'index' ? `INDEXED BY ${access.name}` : ''
  return `FROM documents ${hint} ${whereSql(terms, access.by === 'key', behind)}`
}

/** With access by key all other terms are hidden from SQLite's choice of an index. */
function whereSql(terms: readonly Term[], byKey: boolean, behind: readonly string[] = []): string {
  const conditions = [...terms.map((term) => sqlOf(term, byKey && term.field !== 'id')), ...behind]
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
}

function orderSql(order: Query['order'], access: Access): string {
  if (order.length === 0) return ''
  const hidden = access.by === 'key' ? '+' : ''
  return `ORDER BY ${order.map(([field, direction]) => `${hidden}${quoted(field)} ${direction}`).join(', ')}`
}

function columnsOf(declaration: ModelDeclaration, select: readonly string[]): string {
  for (const name of select) {
    if (name !== 'revision' && !declaration.texts.includes(name)) requireField(declaration, name)
  }
  return list(select)
}

function requireField({ name, fields }: ModelDeclaration, field: string): void {
  if (!Object.hasOwn(fields, field)) throw new Error(`${name} has no field ${field}`)
}
