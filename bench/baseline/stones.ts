import Database from 'better-sqlite3'
import type { DiamondFields } from './fields.ts'

/** A stone as its row holds it: dictionary fields as ids, booleans as 0 and 1, `date` in seconds since 1970. */
export type Row = { readonly id: number; readonly owner: number; readonly date: number } & {
  readonly [Name in keyof DiamondFields]: DiamondFields[Name] extends boolean ? number : DiamondFields[Name]
}

/** What a list asks for; an empty array is no filter. */
export type Filters = {
  readonly ids: readonly number[]
  readonly skus: readonly string[]
  readonly isColored?: boolean
  readonly dateFrom?: number
  readonly dateTo?: number
}

type Value = number | string | null

const COLUMNS = [
  'sku',
  'price',
  'isColored',
  'isLabGrown',
  'cutShape',
  'carat',
  'clarity',
  'color',
  'cutQuality',
  'polish',
  'symmetry',
  'fluorIntensity',
  'fluorColor',
  'fancyGrade',
  'colorHue',
  'colorModifier',
  'culetSize',
  'girdle',
  'access',
  'dataAccess',
] as const

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS stone (
    id INTEGER PRIMARY KEY, owner INTEGER NOT NULL, date INTEGER NOT NULL, sku TEXT NOT NULL, price REAL,
    isColored INTEGER NOT NULL, isLabGrown INTEGER NOT NULL, cutShape NOT NULL, carat REAL NOT NULL,
    clarity INTEGER, color INTEGER, cutQuality INTEGER, polish INTEGER, symmetry INTEGER,
    fluorIntensity INTEGER, fluorColor INTEGER, fancyGrade INTEGER, colorHue INTEGER, colorModifier INTEGER,
    culetSize TEXT, girdle TEXT, access INTEGER NOT NULL, dataAccess INTEGER NOT NULL
  );
  CREATE INDEX IF NOT EXISTS stone_by_date ON stone (owner, date, id);
  CREATE INDEX IF NOT EXISTS stone_by_sku ON stone (owner, sku);`

/** One row a stone in one table; every write is a transaction of its own, durable when it returns. */
export class Stones {
  readonly #database: Database.Database
  readonly #insert: Database.Statement<[Record<string, Value>], Row>
  readonly #byId: Database.Statement<[number], Row>
  readonly #insertMany: (values: readonly Record<string, Value>[]) => Row[]

  constructor(file: string) {
    this.#database = new Database(file)
    this.#database.pragma('journal_mode = WAL')
    this.#database.pragma('synchronous = FULL')
    this.#database.exec(SCHEMA)
    const names = ['owner', 'date', ...COLUMNS]
    const gaps = names.map((name) => `@${name}`)
    this.#insert = this.#database.prepare(
      `INSERT INTO stone (${names.join(', ')}) VALUES (${gaps.join(', ')}) RETURNING *`,
    )
    this.#byId = this.#database.prepare('SELECT * FROM stone WHERE id = ?')
    this.#insertMany = this.#database.transaction((values: readonly Record<string, Value>[]) =>
      values.map((each) => this.#insertOne(each)),
    )
  }

  create(owner: number, fields: DiamondFields): Row {
    return this.#insertOne(valuesOf(owner, fields))
  }

  createMany(owner: number, stones: readonly DiamondFields[]): Row[] {
    return this.#insertMany(stones.map((fields) => valuesOf(owner, fields)))
  }

  get(id: number): Row | undefined {
    return this.#byId.get(id)
  }

  /** Sets the given fields of a stone and returns it as it is then. */
  update(id: number, fields: Partial<DiamondFields>): Row | undefined {
    const values = plain(fields)
    const names = Object.keys(values)
    if (names.length === 0) return this.get(id)
    const sets = names.map((name) => `${name} = @${name}`).join(', ')
    return this.#database
      .prepare<[Record<string, Value>], Row>(`UPDATE stone SET ${sets} WHERE id = @id RETURNING *`)
      .get({ ...values, id })
  }

  /** Newest first. */
  list(owner: number, filters: Filters, limit: number, offset: number): { rows: Row[]; total: number } {
    const { where, values } = conditions(owner, filters)
    const total =
      this.#database
        .prepare<Value[], number>(`SELECT count(*) FROM stone WHERE ${where}`)
        .pluck()
        .get(...values) ?? 0
    const rows = this.#database
      .prepare<Value[], Row>(`SELECT * FROM stone WHERE ${where} ORDER BY date DESC, id DESC LIMIT ? OFFSET ?`)
      .all(...values, limit, offset)
    return { rows, total }
  }

  close(): void {
    this.#database.close()
  }

  #insertOne(values: Record<string, Value>): Row {
    const row = this.#insert.get(values)
    if (row === undefined) throw new Error('an INSERT with RETURNING gave no row')
    return row
  }
}

function valuesOf(owner: number, fields: DiamondFields): Record<string, Value> {
  return { owner, date: Math.floor(Date.now() / 1000), ...plain(fields) }
}

/** SQLite has no booleans. */
function plain(fields: Partial<DiamondFields>): Record<string, Value> {
  const values: Record<string, Value> = {}
  for (const name of COLUMNS) {
    const value = fields[name]
    if (value !== undefined) values[name] = typeof value === 'boolean' ? Number(value) : value
  }
  return values
}

function conditions(
  owner: number,
  { ids, skus, isColored, dateFrom, dateTo }: Filters,
): { where: string; values: Value[] } {
  const parts = ['owner = ?']
  const values: Value[] = [owner]
  const add = (sql: string, ...given: Value[]) => {
    parts.push(sql)
    values.push(...given)
  }
  if (ids.length > 0) add(`id IN (${ids.map(() => '?').join(', ')})`, ...ids)
  if (skus.length > 0) add(`sku IN (${skus.map(() => '?').join(', ')})`, ...skus)
  if (isColored !== undefined) add('isColored = ?', Number(isColored))
  if (dateFrom !== undefined) add('date >= ?', dateFrom)
  if (dateTo !== undefined) add('date <= ?', dateTo)
  return { where: parts.join(' AND '), values }
}
