import type { Document, FieldValue, ModelDeclaration } from '../../ports/read-store.ts'

/**
 * A stored document. A removed one leaves a tombstone with its key and revision, so that a late write of a process that
 * was suspended is recognised as outdated.
 */
export type MongoDocument = { readonly _id: string; readonly revision: bigint } & Readonly<Record<string, unknown>>

/** `_id`s are strings for both kinds of key. */
export const keyOf = (id: FieldValue): string => String(id)

const namesOf = ({ fields, texts }: ModelDeclaration): string[] => [...Object.keys(fields), ...texts]

/** @throws Error if the document lacks a declared value, before anything is written */
export function toMongoDocument(declaration: ModelDeclaration, document: Document, revision: bigint): MongoDocument {
  const values: Record<string, FieldValue> = {}
  for (const name of namesOf(declaration)) {
    const value = document[name]
    if (value === undefined) throw new Error(`document ${document['id'] ?? 'without id'} has no ${name}`)
    values[name] = value
  }
  return { _id: keyOf(values['id'] ?? ''), revision, ...values }
}

export const isTombstone = (stored: MongoDocument): boolean => stored['id'] === undefined

/** The values of these names; `revision` as a number. */
export function pickValues(stored: MongoDocument, names: readonly string[]): Document {
  const document: Record<string, FieldValue> = {}
  for (const name of names) {
    const value = stored[name]
    document[name] = typeof value === 'bigint' ? Number(value) : (value as FieldValue)
  }
  return document
}
