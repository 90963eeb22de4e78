import type Database from 'better-sqlite3'
import {
  ConcurrencyConflict,
  type Document,
  type FieldValue,
  type ModelDeclaration,
  type StoredDocument,
  type DocumentWrite,
} from '../../ports/read-store.ts'
import {
  indexedFields,
  quoteIdentifiers,
  nonKeyFields,
  quoteIdentifier,
  valueColumns,
  type TableName,
} from './schema.ts'

/** Changes to the maintained counts, accumulated over a batch so that each combination of values is written once. */
type CountAccumulator = {
  add(values: readonly FieldValue[], change: 1 | -1): void
  flush(): void
  /** Discards the accumulated changes of a failed transaction. */
  reset(): void
}

/** @returns undefined if the model declares no counts */
function createCountAccumulator(db: Database.Database, { counts }: ModelDeclaration): CountAccumulator | undefined {
  if (counts.length === 0) return undefined
  const placeholders = counts.map(() => '?').join(', ')
  const condition = counts.map((name) => `${quoteIdentifier(name)} = ?`).join(' AND ')
  const change = db.prepare(
    `INSERT INTO counts (${quoteIdentifiers(counts)}, documents) VALUES (${placeholders}, ?)
     ON CONFLICT DO UPDATE SET documents = documents + excluded.documents`,
  )
  const removeEmpty = db.prepare(`DELETE FROM counts WHERE ${condition} AND documents = 0`)
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

/** The columns that the revision guard and the counts need: the revision, then the fields in the order of nonKeyFields. */
type StoredGuardRow = [revision: number, ...fields: FieldValue[]]

/** The driver binds the elements of an array argument as separate values, without a copy. */
type DocumentBindings = [revision: bigint, values: readonly FieldValue[], id: FieldValue]

/** For an update that takes effect only at this revision. */
type GuardedUpdateBindings = [...DocumentBindings, over: bigint]

/** @returns a function that applies writes, each guarded by its revision; call it inside a transaction */
export function writesOf(
  db: Database.Database,
  declaration: ModelDeclaration,
  table: TableName,
): (writes: readonly DocumentWrite[]) => void {
  const fields = nonKeyFields(declaration)
  const columns = valueColumns(declaration)
  const indexed = indexedFields(declaration)
  const indexedPositions = indexed.map((name) => fields.indexOf(name))
  const unindexed = unindexedColumns(declaration)
  const countedBy = declaration.counts.filter((name) => name !== 'id')
  const statements = statementsOf(db, declaration, table)
  const countAccumulator = createCountAccumulator(db, declaration)
  const countedPositions = declaration.counts.map((name) => fields.indexOf(name))

  /** Without `basedOn` the document is usually new; after a repeated batch it exists and its revision decides. */
  function put(document: Document, { revision, basedOn }: DocumentWrite): void {
    const id = valueOf(document, 'id')
    const values = columns.map((name) => valueOf(document, name))
    if (basedOn === undefined && statements.insert.run(revision, values, id).changes > 0) return count(id, values, 0, 1)
    const stored = statements.stored.get(id)
    requireUnchanged(id, stored, revision, basedOn)
    if (stored === undefined || BigInt(stored[0]) >= revision) return
    update(document, revision, BigInt(stored[0]), (_name, at) => stored[(indexedPositions[at] ?? 0) + 1])
    count(id, stored, 1, -1)
    count(id, values, 0, 1)
  }

  /** @returns false if nothing was written: the counts change, or the stored document is not at the loaded revision */
  function putBasedOn(basedOn: StoredDocument, document: Document, revision: bigint): boolean {
    if (basedOn.revision >= revision || countedBy.some((name) => basedOn.document[name] !== document[name]))
      return false
    return update(document, revision, basedOn.revision, (name) => basedOn.document[name]) > 0
  }

  function update(
    document: Document,
    revision: bigint,
    storedRevision: bigint,
    storedValue: (name: string, at: number) => FieldValue | undefined,
  ): number {
    const changed = indexed.filter((name, at) => storedValue(name, at) !== document[name])
    const values = [...unindexed, ...changed].map((name) => valueOf(document, name))
    return statements.updateOf(changed).run(revision, values, valueOf(document, 'id'), storedRevision).changes
  }

  /** @throws ConcurrencyConflict unless the stored document is `basedOn` or at least as new as the write */
  function requireUnchanged(
    id: FieldValue,
    stored: StoredGuardRow | undefined,
    revision: bigint,
    basedOn: StoredDocument | undefined,
  ): void {
    if (basedOn === undefined) return
    const found = stored && BigInt(stored[0])
    if (found === undefined || (found !== basedOn.revision && found < revision))
      throw new ConcurrencyConflict(declaration.name, id)
  }

  function remove(id: FieldValue, { revision, basedOn }: DocumentWrite): void {
    const stored = statements.stored.get(id)
    requireUnchanged(id, stored, revision, basedOn)
    if (stored === undefined || BigInt(stored[0]) >= revision) return
    statements.remove.run(id)
    count(id, stored, 1, -1)
  }

  /** @param first index of the first field in `values`; the key is not in `values`, but may be counted */
  function count(id: FieldValue, values: readonly FieldValue[], first: number, change: 1 | -1): void {
    countAccumulator?.add(
      countedPositions.map((at) => (at < 0 ? id : (values[at + first] ?? 0))),
      change,
    )
  }

  return (writes) => {
    countAccumulator?.reset()
    for (const write of writes) {
      if ('remove' in write) remove(write.remove, write)
      else if (write.basedOn === undefined || !putBasedOn(write.basedOn, write.put, write.revision))
        put(write.put, write)
    }
    countAccumulator?.flush()
  }
}

const unindexedColumns = (declaration: ModelDeclaration) =>
  valueColumns(declaration).filter((name) => !indexedFields(declaration).includes(name))

/** Updates omit unchanged indexed fields, because setting a field rewrites every index that contains it. */
function statementsOf(db: Database.Database, declaration: ModelDeclaration, table: TableName) {
  const columns = valueColumns(declaration)
  const settings = (names: readonly string[]) =>
    ['revision', ...names].map((name) => `${quoteIdentifier(name)} = ?`).join(', ')
  const inserted = ['revision', ...columns, 'id']
  const placeholders = inserted.map(() => '?').join(', ')
  const stored = ['revision', ...nonKeyFields(declaration)]
  const updates = new Map<string, Database.Statement<GuardedUpdateBindings>>()

  /** Cached: only few combinations of fields change together. */
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
      `INSERT INTO ${table} (${quoteIdentifiers(inserted)}) VALUES (${placeholders}) ON CONFLICT (id) DO NOTHING`,
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
