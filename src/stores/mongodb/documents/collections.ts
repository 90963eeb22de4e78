import type { Collection, Db } from 'mongodb'
import type { ModelDeclaration } from '../../ports/read-store.ts'
import type { CountGroup } from './count-groups.ts'
import type { MongoDocument } from './stored-documents.ts'

/** The collections of one build: documents, and counts and sequences if the model has any. */
export type BuildCollections = {
  readonly documents: Collection<MongoDocument>
  readonly groups: Collection<CountGroup>
  readonly sequences: Collection<MongoDocument>
}

export const collectionsOf = (db: Db, { name, version }: ModelDeclaration, id: string): BuildCollections => ({
  documents: db.collection<MongoDocument>(`${name}_v${version}_${id}`),
  groups: db.collection<CountGroup>(`${name}_v${version}_${id}_counts`),
  sequences: db.collection<MongoDocument>(`${name}_v${version}_${id}_sequences`),
})

export const indexName = (fields: readonly string[]) => fields.join('_')

/** Creates an index for every declared filter and order. Idempotent. */
export async function makeIndexes(
  { documents, groups }: BuildCollections,
  declaration: ModelDeclaration,
): Promise<void> {
  const { indexes, counts } = declaration
  if (indexes.length > 0) {
    await documents.createIndexes(
      indexes.map((fields) => ({
        name: indexName(fields),
        key: Object.fromEntries(fields.map((field) => [field, 1])),
      })),
    )
  }
  if (counts.length > 0) await groups.createIndexes([{ name: 'at', key: { 'at.commit': 1 } }])
}

export async function dropCollections({ documents, groups, sequences }: BuildCollections): Promise<void> {
  await documents.drop()
  await groups.drop()
  await sequences.drop()
}
