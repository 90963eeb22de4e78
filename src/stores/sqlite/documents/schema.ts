import { SEQUENCES_DECLARATION, type ModelDeclaration } from '../../ports/read-store.ts'

export const indexName = (fields: readonly string[]) => `by_${fields.join('_')}`

export const quoteIdentifier = (name: string) => `"${name}"`

export const quoteIdentifiers = (names: readonly string[]) => names.map(quoteIdentifier).join(', ')

export const nonKeyFields = (declaration: ModelDeclaration) =>
  Object.keys(declaration.fields).filter((name) => name !== 'id')

/** The fields, other than the key, that are part of an index. */
export const indexedFields = (declaration: ModelDeclaration) =>
  nonKeyFields(declaration).filter((name) => declaration.indexes.some((names) => names.includes(name)))

/** All columns except the key and the revision, in table order. */
export const valueColumns = (declaration: ModelDeclaration) => [...nonKeyFields(declaration), ...declaration.texts]

/** Texts follow the fields, so that reading a field never reads a text's overflow pages. */
export function schemaOf(declaration: ModelDeclaration): string {
  const tables = [documentsTable(declaration, 'documents'), documentsTable(SEQUENCES_DECLARATION, 'sequences')]
  return [...tables, ...indexes(declaration), ...countsTable(declaration), FIXED_TABLES].join(';\n')
}

export type TableName = 'documents' | 'sequences'

function documentsTable({ fields, texts }: ModelDeclaration, table: TableName): string {
  const columns = [
    `"id" ${sqlType(fields['id'])} PRIMARY KEY NOT NULL`,
    '"revision" INTEGER NOT NULL',
    ...Object.entries(fields)
      .filter(([name]) => name !== 'id')
      .map(([name, kind]) => `${quoteIdentifier(name)} ${sqlType(kind)} NOT NULL`),
    ...texts.map((name) => `${quoteIdentifier(name)} TEXT NOT NULL`),
  ]
  return `CREATE TABLE ${table} (${columns.join(', ')}) STRICT`
}

/** An integer key is the rowid, which every index ends with already; naming it would store it twice. */
function indexes({ fields, indexes }: ModelDeclaration): string[] {
  return indexes.map((names) => {
    const stored = fields['id'] === 'integer' && names.at(-1) === 'id' ? names.slice(0, -1) : names
    return `CREATE INDEX ${quoteIdentifier(indexName(names))} ON documents (${quoteIdentifiers(stored)})`
  })
}

function countsTable({ fields, counts }: ModelDeclaration): string[] {
  if (counts.length === 0) return []
  const columns = counts.map((name) => `${quoteIdentifier(name)} ${sqlType(fields[name])} NOT NULL`).join(', ')
  const key = `PRIMARY KEY (${quoteIdentifiers(counts)})`
  return [`CREATE TABLE counts (${columns}, documents INTEGER NOT NULL, ${key}) STRICT, WITHOUT ROWID`]
}

/** Positions are stored as text: 64 bits exceed a JavaScript number, and SQL never compares them. */
const FIXED_TABLES = `
CREATE TABLE checkpoint (
  one INTEGER PRIMARY KEY CHECK (one = 1), "commit" TEXT, prepare TEXT, log TEXT NOT NULL,
  event TEXT, event_commit TEXT, event_prepare TEXT
) STRICT;
CREATE TABLE dead_letters (
  stream TEXT NOT NULL, revision INTEGER NOT NULL, "commit" TEXT NOT NULL, prepare TEXT NOT NULL,
  event TEXT NOT NULL, type TEXT NOT NULL, reason TEXT NOT NULL, PRIMARY KEY (stream, revision)
) STRICT, WITHOUT ROWID`

const TYPES = { integer: 'INTEGER', number: 'REAL', text: 'TEXT' } as const
const sqlType = (kind: keyof typeof TYPES = 'text') => TYPES[kind]
