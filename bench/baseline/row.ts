import type { DiamondFields } from '../../src/domain/diamond/fields.ts'

export const COLUMNS = [
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
] as const satisfies readonly (keyof DiamondFields)[]

export type StoneTableColumn = (typeof COLUMNS)[number]

/** A stone as stored: dictionary fields as ids, booleans as 0 and 1, `date` in seconds since 1970. */
export type StoneRow = { readonly id: number; readonly owner: number; readonly date: number } & {
  readonly [Name in StoneTableColumn]: DiamondFields[Name] extends boolean ? number : DiamondFields[Name]
}

export type SqlValue = number | string | null
export type SqlValues = Readonly<Record<string, SqlValue>>

/** Booleans as 0 and 1, because SQLite has none. */
export function valuesOf(fields: Readonly<Partial<DiamondFields>>): SqlValues {
  const values: Record<string, SqlValue> = {}
  for (const name of COLUMNS) {
    const value = fields[name]
    if (value !== undefined) values[name] = typeof value === 'boolean' ? Number(value) : value
  }
  return values
}

export const SCHEMA = `
  CREATE TABLE IF NOT EXISTS stone (
    id INTEGER PRIMARY KEY, owner INTEGER NOT NULL, date INTEGER NOT NULL, sku TEXT NOT NULL, price REAL,
    isColored INTEGER NOT NULL, isLabGrown INTEGER NOT NULL, cutShape NOT NULL, carat REAL NOT NULL,
    clarity INTEGER, color INTEGER, cutQuality INTEGER, polish INTEGER, symmetry INTEGER,
    fluorIntensity INTEGER, fluorColor INTEGER, fancyGrade INTEGER, colorHue INTEGER, colorModifier INTEGER,
    culetSize TEXT, girdle TEXT, access INTEGER NOT NULL, dataAccess INTEGER NOT NULL
  );
  CREATE INDEX IF NOT EXISTS stone_by_date ON stone (owner, date, id);
  CREATE INDEX IF NOT EXISTS stone_by_sku ON stone (owner, sku);`
