import type Database from 'better-sqlite3'
import {
  Outdated,
  type Document,
  type FieldValue,
  type ModelDeclaration,
  type Stored,
  type Write,
} from '../../ports/read-store.ts'
import { countingOf } from './counts.ts'
import { indexedFields, list, otherFields, quoted, valueColumns } from './schema.ts'

/** What the guard and the counts need of a stored document: its revision, then its fields in the order of otherFields. */
type Known = [revision: number, ...fields: FieldValue[]]

/** The driver takes an array among its arguments as so many values, without a copy. */
type Values = [revision: bigint, values: readonly FieldValue[], id: FieldValue]

/** Of an update that takes effect only where the document still has this revision. */
type Guarded = [...Values, over: bigint]

/** @returns what applies writes, each guarded by its revision; call it inside a transaction */
export function writesOf(db: Database.Database, declaration: ModelDeclaration): (writes: readonly Write[]) => void {
  const fields = otherFields(declaration)
  const columns = valueColumns(declaration)
  const indexed = indexedFields(declaration)
  const indexedAt = indexed.map((name) => fields.indexOf(name))
  const free = freeColumns(declaration)
  const fixed = [...new Set([...indexed, ...declaration.counts.filter((name) => name !== 'id')])]
  const statements = statementsOf(db, declaration)
  const counting = countingOf(db, declaration)
  const counted = declaration.counts.map((name) => fields.indexOf(name))

  function put(document: Document, { revision, over }: Write): void {
    const id = valueOf(document, 'id')
    const values = columns.map((name) => valueOf(document, name))
    const stored = statements.stored.get(id)
    requireAsLoaded(id, stored, revision, over)
    if (stored === undefined) statements.insert.run(revision, values, id)
    else if (BigInt(stored[0]) >= revision) return
    else if (indexed.every((name, at) => stored[(indexedAt[at] ?? 0) + 1] === document[name])) {
      statements.updateFree.run(revision, freeOf(document), id, BigInt(stored[0]))
    } else statements.update.run(revision, values, id)
    if (stored !== undefined) count(id, stored, 1, -1)
    count(id, values, 0, 1)
  }

  /** @returns false where nothing was written: its fields change, or it is not as it was loaded any more */
  function putOver(over: Stored, document: Document, revision: bigint): boolean {
    if (over.revision >= revision || fixed.some((name) => over.document[name] !== document[name])) return false
    return statements.updateFree.run(revision, freeOf(document), valueOf(document, 'id'), over.revision).changes > 0
  }

  const freeOf = (document: Document) => free.map((name) => valueOf(document, name))

  /** @throws Outdated, unless what stands there is at least as new as what is written */
  function requireAsLoaded(
    id: FieldValue,
    stored: Known | undefined,
    revision: bigint,
    over: Stored | undefined,
  ): void {
    if (over === undefined) return
    const found = stored && BigInt(stored[0])
    if (found === undefined || (found !== over.revision && found < revision)) throw new Outdated(declaration.name, id)
  }

  function remove(id: FieldValue, { revision, over }: Write): void {
    const stored = statements.stored.get(id)
    requireAsLoaded(id, stored, revision, over)
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
    counting?.forget()
    for (const write of writes) {
      if ('remove' in write) remove(write.remove, write)
      else if (write.over === undefined || !putOver(write.over, write.put, write.revision)) put(write.put, write)
    }
    counting?.flush()
  }
}

/** What no index holds. */
const freeColumns = (declaration: ModelDeclaration) =>
  valueColumns(declaration).filter((name) => !indexedFields(declaration).includes(name))

/** Indexed fields that stay as they are stay out of the update: setting them would rewrite every index. */
function statementsOf(db: Database.Database, declaration: ModelDeclaration) {
  const columns = valueColumns(declaration)
  const settings = (names: readonly string[]) => ['revision', ...names].map((name) => `${quoted(name)} = ?`).join(', ')
  const inserted = ['revision', ...columns, 'id']
  const places = inserted.map(() => '?').join(', ')
  const stored = ['revision', ...otherFields(declaration)]
  return {
    stored: db.prepare<[FieldValue], Known>(`SELECT ${list(stored)} FROM documents WHERE id = ?`).raw(),
    insert: db.prepare<Values>(`INSERT INTO documents (${list(inserted)}) VALUES (${places})`),
    update: db.prepare<Values>(`UPDATE documents SET ${settings(columns)} WHERE id = ?`),
    updateFree: db.prepare<Guarded>(
      `UPDATE documents SET ${settings(freeColumns(declaration))} WHERE id = ? AND revision = ?`,
    ),
    remove: db.prepare<[FieldValue]>('DELETE FROM documents WHERE id = ?'),
  }
}

function valueOf(document: Document, name: string): FieldValue {
  const value = document[name]
  if (value === undefined) throw new Error(`document ${document['id'] ?? 'without id'} has no ${name}`)
  return value
}
