import type Database from 'better-sqlite3'
import type { Document, FieldValue, ModelDeclaration, Query, Where } from '../../ports/read-store.ts'
import { shapeOf, sqlOf, termsOf, type Term } from './conditions.ts'
import { accessOf, type Access } from './index-choice.ts'
import { list, quoted } from './schema.ts'

export type Queries = {
  get(id: FieldValue, select: readonly string[]): Document | undefined
  find(query: Query): Document[]
  count(where: Where): number
}

/** Every shape of query is prepared once. @throws Error naming a field that the model does not have */
export function queriesOf(db: Database.Database, declaration: ModelDeclaration): Queries {
  const gets = new Map<string, Database.Statement<[FieldValue], Document>>()
  const finds = new Map<string, (values: FieldValue[]) => Document[]>()
  const sums = new Map<string, Database.Statement<FieldValue[], number | null>>()
  return {
    get(id, select) {
      const statement = remembered(gets, select.join(), () =>
        db.prepare<[FieldValue], Document>(getSql(declaration, select)),
      )
      return statement.get(id)
    },
    find({ where, order, limit, offset, select }) {
      const terms = termsOf(where)
      const shape = `${shapeOf(terms)};${order.join(';')};${select.join()}`
      const make = () => reading(db, findSql(declaration, terms, order, select), select)
      return remembered(finds, shape, make)([...valuesOf(terms), limit, offset])
    },
    count(where) {
      const terms = termsOf(where)
      const make = () => db.prepare<FieldValue[], number | null>(countSql(declaration, terms)).pluck()
      return remembered(sums, shapeOf(terms), make).get(...valuesOf(terms)) ?? 0
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

function remembered<Value>(known: Map<string, Value>, key: string, make: () => Value): Value {
  let value = known.get(key)
  if (value === undefined) {
    value = make()
    if (known.size >= SHAPES) known.clear()
    known.set(key, value)
  }
  return value
}

const valuesOf = (terms: readonly Term[]) => terms.flatMap((term) => term.values)

function getSql(declaration: ModelDeclaration, select: readonly string[]): string {
  return `SELECT ${columnsOf(declaration, select)} FROM documents WHERE id = ?`
}

/** Where rows are sorted, ids are sorted first, and texts are read only for the page. */
export function findSql(
  declaration: ModelDeclaration,
  terms: readonly Term[],
  order: Query['order'],
  select: readonly string[],
): string {
  for (const [field] of order) requireField(declaration, field)
  const access = accessOf(declaration, terms, order)
  const columns = columnsOf(declaration, select)
  const page = `${from(declaration, terms, access)} ${orderSql(order, access)} LIMIT ? OFFSET ?`
  if (access.by === 'index' && access.sorted) return `SELECT ${columns} ${page}`
  const resorted = orderSql(order, { by: 'key' })
  return `SELECT ${columns} FROM documents WHERE id IN (SELECT id ${page}) ${resorted}`
}

/** A sum over kept counts where only counted fields are asked for, else a walk along an index. */
export function countSql(declaration: ModelDeclaration, terms: readonly Term[]): string {
  const { counts } = declaration
  if (counts.length > 0 && terms.every(({ field }) => counts.includes(field)))
    return `SELECT SUM(documents) FROM counts ${whereSql(terms, false)}`
  return `SELECT COUNT(*) ${from(declaration, terms, accessOf(declaration, terms))}`
}

function from(declaration: ModelDeclaration, terms: readonly Term[], access: Access): string {
  for (const { field } of terms) requireField(declaration, field)
  const hint = access.by === 'index' ? `INDEXED BY ${access.name}` : ''
  return `FROM documents ${hint} ${whereSql(terms, access.by === 'key')}`
}

/** With access by key all other terms are hidden from SQLite's choice of an index. */
function whereSql(terms: readonly Term[], byKey: boolean): string {
  if (terms.length === 0) return ''
  return `WHERE ${terms.map((term) => sqlOf(term, byKey && term.field !== 'id')).join(' AND ')}`
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
