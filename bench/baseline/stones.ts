import Database, { type Statement } from 'better-sqlite3'
import { withDefaults, type DiamondFields, type NewDiamond } from '../../src/domain/diamond/fields.ts'
import type { DiamondFilter } from '../../src/projections/diamonds/list-attributes.ts'
import type { DiamondPageRequest } from '../../src/projections/diamonds/list-plan.ts'
import { COLUMNS, SCHEMA, valuesOf, type StoneRow, type SqlValue, type SqlValues } from './row.ts'

/** One row per stone in one table. Every write is a separate transaction, durable on return. */
export class StoneTable {
  readonly #database: Database.Database
  readonly #insert: Statement<[SqlValues], StoneRow>
  readonly #byId: Statement<[number], StoneRow>

  constructor(file: string) {
    this.#database = new Database(file)
    this.#database.pragma('journal_mode = WAL')
    this.#database.pragma('synchronous = FULL')
    this.#database.exec(SCHEMA)
    const names = ['owner', 'date', ...COLUMNS]
    const placeholders = names.map((name) => `@${name}`)
    this.#insert = this.#database.prepare(
      `INSERT INTO stone (${names.join(', ')}) VALUES (${placeholders.join(', ')}) RETURNING *`,
    )
    this.#byId = this.#database.prepare('SELECT * FROM stone WHERE id = ?')
  }

  create(owner: number, diamond: NewDiamond): StoneRow {
    const date = Math.floor(Date.now() / 1000)
    const row = this.#insert.get({ owner, date, ...valuesOf(withDefaults(diamond)) })
    if (row === undefined) throw new Error('an INSERT with RETURNING gave no row')
    return row
  }

  /** In one transaction. */
  createAll(owner: number, diamonds: readonly NewDiamond[]): StoneRow[] {
    return this.#database.transaction(() => diamonds.map((diamond) => this.create(owner, diamond)))()
  }

  get(id: number): StoneRow | undefined {
    return this.#byId.get(id)
  }

  update(id: number, fields: Readonly<Partial<DiamondFields>>): StoneRow | undefined {
    const values = valuesOf(fields)
    const sets = Object.keys(values).map((name) => `${name} = @${name}`)
    if (sets.length === 0) return this.get(id)
    return this.#database
      .prepare<[SqlValues], StoneRow>(`UPDATE stone SET ${sets.join(', ')} WHERE id = @id RETURNING *`)
      .get({ ...values, id })
  }

  /** Newest first. */
  list(
    owner: number,
    filter: DiamondFilter,
    { limit, offset }: DiamondPageRequest,
  ): { rows: StoneRow[]; total: number } {
    const { where, values } = conditionsOf(owner, filter)
    const total = this.#database.prepare<SqlValue[], number>(`SELECT count(*) FROM stone WHERE ${where}`).pluck()
    const page = this.#database.prepare<SqlValue[], StoneRow>(
      `SELECT * FROM stone WHERE ${where} ORDER BY date DESC, id DESC LIMIT ? OFFSET ?`,
    )
    return { rows: page.all(...values, limit, offset), total: total.get(...values) ?? 0 }
  }

  close(): void {
    this.#database.close()
  }
}

function conditionsOf(owner: number, { id, sku, isColored, date: { from, to } = {} }: DiamondFilter) {
  const parts = ['owner = ?']
  const values: SqlValue[] = [owner]
  const add = (sql: string, ...given: readonly SqlValue[]) => {
    parts.push(sql)
    values.push(...given)
  }
  if (id !== undefined) add(`id IN (${id.map(() => '?').join(', ')})`, ...id)
  if (sku !== undefined) add(`sku IN (${sku.map(() => '?').join(', ')})`, ...sku)
  if (isColored !== undefined) add('isColored = ?', Number(isColored))
  if (from !== undefined) add('date >= ?', from)
  if (to !== undefined) add('date <= ?', to)
  return { where: parts.join(' AND '), values }
}
