import type Database from 'better-sqlite3'
import {
  ConcurrencyConflict,
  type Document,
  type FieldValue,
  type ModelDeclaration,
  type StoredDocument,
  type DocumentWrite,
} from '../../ports/read-store.ts'
import { indexedFields, quoteIdentifiers, nonKeyFields, quoted, valueColumns, type TableName } from './schema.ts'

/** Changes to kept counts, gathered over a batch: each combination of values is written once. */
export type CountAccumulator = {
  add(values: readonly FieldValue[], change: 1 | -1): void
  /** Writes what was gathered, and starts afresh. */
  flush(): void
  /** Forgets what was gathered, for a transaction that failed. */
  reset(): void
}

/** @returns undefined for a model that declares no counts */
function createCountAccumulator(db: Database.Database, { counts }: ModelDeclaration): CountAccumulator | undefined {
  if (counts.length === 0) return undefined
  const places = counts.map(() => '?').join(', ')
  const same = counts.map((name) => `${quoted(name)} = ?`).join(' AND ')
  const change = db.prepare(
    `INSERT INTO counts (${quoteIdentifiers(counts)}, documents) VALUES (${places}, ?)
     ON CONFLICT DO UPDATE SET documents = documents + excluded.documents`,
  )
  const removeEmpty = db.prepare(`DELETE FROM counts WHERE ${same} AND documents = 0`)
  const changes = new Map<string, { readonly values: readonly FieldValue[]; sum: number }>()
  return {
    add(values, step) {
      const key = JSON.stringify(values)
      const entry = changes.get(key)
      if (entry === undefined) changes.set(key, { values, sum: step })
      else entry.sum += step
    },
    flush() {
      for (const { values, sum } of changes.values()) {
        if (sum !== 0) change.run(...values, sum)
        if (sum < 0) removeEmpty.run(...values)
      }
      changes.clear()
    },
    reset: () => changes.clear(),
  }
}

/** What the guard and the counts need of a stored document: its revision, then its fields in the order of otherFields. */
type StoredGuardRow = [revision: number, ...fields: FieldValue[]]

/** The driver takes an array among its arguments as so many values, without a copy. */
type DocumentBindings = [revision: bigint, values: readonly FieldValue[], id: FieldValue]

/** Of an update that takes effect only where the document still has this revision. */
type GuardedUpdateBindings = [...DocumentBindings, over: bigint]

/** @returns what applies writes, each guarded by its revision; call it inside a transaction */
export function writesOf(
  db: Database.Database,
  declaration: ModelDeclaration,
  table: TableName,
): (writes: readonly DocumentWrite[]) => void {
  const fields = nonKeyFields(declaration)
  const columns = valueColumns(declaration)
  const indexed = indexedFields(declaration)
  const indexedAt = indexed.map((name) => fields.indexOf(name))
  const free = unindexedColumns(declaration)
  const countedBy = declaration.counts.filter((name) => name !== 'id')
  const statements = statementsOf(db, declaration, table)
  const counting = createCountAccumulator(db, declaration)
  const counted = declaration.counts.map((name) => fields.indexOf(name))

  /** A document that was not loaded is a new one, but for batches that come again: it is looked up where it is there. */
  function put(document: Document, { revision, basedOn }: DocumentWrite): void {
    const id = valueOf(document, 'id')
    const values = columns.map((name) => valueOf(document, name))
    if (basedOn === undefined && statements.insert.run(revision, values, id).changes > 0) return count(id, values, 0, 1)
    const stored = statements.stored.get(id)
    requireUnchanged(id, stored, revision, basedOn)
    if (stored === undefined || BigInt(stored[0]) >= revision) return
    update(document, revision, BigInt(stored[0]), (_name, at) => stored[(indexedAt[at] ?? 0) + 1])
    count(id, stored, 1, -1)
    count(id, values, 0, 1)
  }

  /** @returns false where nothing was written: it is counted elsewhere, or not as it was loaded any more */
  function putBasedOn(over: StoredDocument, document: Document, revision: bigint): boolean {
    if (over.revision >= revision || countedBy.some((name) => over.document[name] !== document[name])) return false
    return update(document, revision, over.revision, (name) => over.document[name]) > 0
  }

  /** @param before what an indexed field is now */
  function update(
    document: Document,
    revision: bigint,
    over: bigint,
    before: (name: string, at: number) => FieldValue | undefined,
  ): number {
    const changed = indexed.filter((name, at) => before(name, at) !== document[name])
    const values = [...free, ...changed].map((name) => valueOf(document, name))
    return statements.updateOf(changed).run(revision, values, valueOf(document, 'id'), over).changes
  }

  /** @throws Outdated, unless what stands there is at least as new as what is written */
  function requireUnchanged(
    id: FieldValue,
    stored: StoredGuardRow | undefined,
    revision: bigint,
    over: StoredDocument | undefined,
  ): void {
    if (over === undefined) return
    const found = stored && BigInt(stored[0])
    if (found === undefined || (found !== over.revision && found < revision))
      throw new ConcurrencyConflict(declaration.name, id)
  }

  function remove(id: FieldValue, { revision, basedOn }: DocumentWrite): void {
    const stored = statements.stored.get(id)
    requireUnchanged(id, stored, revision, basedOn)
    if (stored === undefined || BigInt(stored[0]) >= revision) return
    statements.remove.run(id)
    count(id, stored, 1, -1)
  }

  /** @param first where the fields begin in `values`; the key is not among them, but may be counted by */
  function count(id: FieldValue, values: readonly FieldValue[], first: number, change: 1 | -1): void {
    counting?.add(
      counted.map((at) => (at < 0 ? id : (values[at + first] ?? 0))),
      change,
    )
  }

  return (writes) => {
    counting?.reset()
    for (const write of writes) {
      if ('remove' in write) remove(write.remove, write)
      else if (write.basedOn === undefined || !putBasedOn(write.basedOn, write.put, write.revision))
        put(write.put, write)
    }
    counting?.flush()
  }
}

/** What no index holds. */
const unindexedColumns = (declaration: ModelDeclaration) =>
  valueColumns(declaration).filter((name) => !indexedFields(declaration).includes(name))

/** Indexed fields that stay as they are stay out of the update: setting one rewrites every index that holds it. */
function statementsOf(db: Database.Database, declaration: ModelDeclaration, table: TableName) {
  const columns = valueColumns(declaration)
  const settings = (names: readonly string[]) => ['revision', ...names].map((name) => `${quoted(name)} = ?`).join(', ')
  const inserted = ['revision', ...columns, 'id']
  const places = inserted.map(() => '?').join(', ')
  const stored = ['revision', ...nonKeyFields(declaration)]
  const updates = new Map<string, Database.Statement<GuardedUpdateBindings>>()

  /** Few sets of fields ever change together. */
  function updateOf(changed: readonly string[]): Database.Statement<GuardedUpdateBindings> {
    const name = changed.join()
    const known = updates.get(name)
    if (known !== undefined) return known
    const set = settings([...unindexedColumns(declaration), ...changed])
    const made = db.prepare<GuardedUpdateBindings>(`UPDATE ${table} SET ${set} WHERE id = ? AND revision = ?`)
    updates.set(name, made)
    return made
  }

  return {
    stored: db
      .prepare<[FieldValue], StoredGuardRow>(`SELECT ${quoteIdentifiers(stored)} FROM ${table} WHERE id = ?`)
      .raw(),
    insert: db.prepare<DocumentBindings>(
      `INSERT INTO ${table} (${quoteIdentifiers(inserted)}) VALUES (${places}) ON CONFLICT (id) DO NOTHING`,
    ),
    updateOf,
    remove: db.prepare<[FieldValue]>(`DELETE FROM ${table} WHERE id = ?`),
  }
}

function valueOf(document: Document, name: string): FieldValue {
  const value = document[name]
  if (value === undefined) throw new Error(`document ${document['id'] ?? 'without id'} has no ${name}`)
  return value
}
