import type Database from 'better-sqlite3'
import type { Document, FieldValue, ModelDeclaration, Write } from '../read-store.ts'
import { countingOf } from './counts.ts'
import { list, otherFields, quoted, valueColumns } from './schema.ts'

/** A stored row: its revision, then its fields in the order of otherFields. */
type Row = [revision: number | bigint, ...fields: FieldValue[]]

/** @returns what applies writes, each guarded by its revision; call it inside a transaction */
export function writesOf(db: Database.Database, declaration: ModelDeclaration): (writes: readonly Write[]) => void {
  const fields = otherFields(declaration)
  const columns = valueColumns(declaration)
  const statements = statementsOf(db, declaration)
  const counting = countingOf(db, declaration)
  const counted = declaration.counts.map((name) => fields.indexOf(name))

  function put(document: Document, revision: bigint): void {
    const id = valueOf(document, 'id')
    const values = columns.map((name) => valueOf(document, name))
    const stored = statements.row.get(id)
    if (stored === undefined) statements.insert.run(id, revision, ...values)
    else if (BigInt(stored[0]) >= revision) return
    else if (fields.every((_, at) => stored[at + 1] === values[at]))
      statements.updateTexts.run(revision, ...values.slice(fields.length), id)
    else statements.update.run(revision, ...values, id)
    if (counting === undefined) return
    if (stored !== undefined) counting.add(countedIn(stored, 1, id), -1)
    counting.add(countedIn(values, 0, id), 1)
  }

  function remove(id: FieldValue, revision: bigint): void {
    const stored = statements.row.get(id)
    if (stored === undefined || BigInt(stored[0]) >= revision) return
    statements.remove.run(id)
    counting?.add(countedIn(stored, 1, id), -1)
  }

  /** The key is not among the other fields; a count by it would be absurd, but is a declaration that can be kept. */
  const countedIn = (values: readonly unknown[], from: number, id: FieldValue) =>
    counted.map((at) => (at < 0 ? id : (values[at + from] as FieldValue)))

  return (writes) => {
    counting?.forget()
    for (const write of writes) {
      if ('put' in write) put(write.put, write.revision)
      else remove(write.remove, write.revision)
    }
    counting?.flush()
  }
}

/** Fields that stay as they are stay out of the update: setting them would rewrite every index. */
function statementsOf(db: Database.Database, declaration: ModelDeclaration) {
  const columns = valueColumns(declaration)
  const settings = (names: readonly string[]) => ['revision', ...names].map((name) => `${quoted(name)} = ?`).join(', ')
  const places = ['id', 'revision', ...columns].map(() => '?').join(', ')
  const row = ['revision', ...otherFields(declaration)]
  return {
    row: db.prepare<[FieldValue], Row>(`SELECT ${list(row)} FROM documents WHERE id = ?`).raw(),
    insert: db.prepare(`INSERT INTO documents (${list(['id', 'revision', ...columns])}) VALUES (${places})`),
    update: db.prepare(`UPDATE documents SET ${settings(columns)} WHERE id = ?`),
    updateTexts: db.prepare(`UPDATE documents SET ${settings(declaration.texts)} WHERE id = ?`),
    remove: db.prepare('DELETE FROM documents WHERE id = ?'),
  }
}

function valueOf(document: Document, name: string): FieldValue {
  const value = document[name]
  if (value === undefined) throw new Error(`document ${document['id'] ?? 'without id'} has no ${name}`)
  return value
}
