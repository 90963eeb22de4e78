import { randomUUID } from 'node:crypto'
import { MongoClient, type AnyBulkWriteOperation, type Collection, type Db, type Document as Bson } from 'mongodb'
import { diamonds } from '../../../../src/projections/diamonds/diamonds.ts'
import type { Document } from '../../../../src/stores/ports/read-store.ts'
import { OWNER } from './diamonds.ts'

type DiamondBson = Bson & { _id: string }
type OwnerCountBson = Bson & { _id: string; version: number; colored: number; others: number }
type ProgressBson = Bson & { _id: string; version: number }

/** A read model implemented with the driver alone: diamonds, their counts by owner, and the checkpoint. */
export type BareDiamonds = {
  readonly documents: Collection<DiamondBson>
  readonly counts: Collection<OwnerCountBson>
  readonly progress: Collection<ProgressBson>
}

/** With the same durability as the adapter. */
export const connectBare = (address: string): Promise<MongoClient> =>
  new MongoClient(address, {
    writeConcern: { w: 'majority', journal: true },
    readConcern: { level: 'majority' },
    useBigInt64: true,
  }).connect()

/** Creates empty collections with the indexes of the service's read model. */
export async function bareDiamonds(db: Db): Promise<BareDiamonds> {
  const name = `bare_${randomUUID().slice(0, 8)}`
  const documents = db.collection<DiamondBson>(name)
  const keys = diamonds.declaration.indexes.map((fields) =>
    Object.fromEntries(fields.map((field) => [field, 1 as const])),
  )
  await documents.createIndexes(keys.map((key) => ({ key })))
  const counts = db.collection<OwnerCountBson>(`${name}_counts`)
  const progress = db.collection<ProgressBson>(`${name}_progress`)
  await counts.insertOne({ _id: String(OWNER), version: 1, colored: 0, others: 0 })
  await progress.insertOne({ _id: 'diamonds', version: 1, position: 0n })
  return { documents, counts, progress }
}

const toBson = (document: Document, revision: bigint): DiamondBson => ({
  _id: String(document['id']),
  revision,
  ...document,
})

/**
 * Writes a batch with revision guards and counts: reads the counter and the current diamonds, then writes the counter,
 * the diamonds and the checkpoint. These are the adapter's calls without its protection against concurrent runners and
 * crashes in between.
 */
export async function writeGuarded(bare: BareDiamonds, batch: readonly Document[], revision: bigint): Promise<void> {
  const { documents, counts } = bare
  const next = batch.map((document) => toBson(document, revision))
  const owned = await counts.findOne({ _id: String(OWNER) })
  if (owned === null) throw new Error('the counter is missing')
  const projection = { revision: 1, id: 1, owner: 1, isColored: 1, isPublished: 1 }
  const stored = await documents.find({ _id: { $in: next.map(({ _id }) => _id) } }, { projection }).toArray()
  const storedById = new Map(stored.map((one) => [one._id, one]))
  const fresh = next.filter(({ _id }) => !storedById.has(_id))
  if (fresh.length > 0) {
    const added = fresh.filter((one) => one['isColored'] === 1).length
    const changed = {
      ...owned,
      version: owned.version + 1,
      colored: owned.colored + added,
      others: owned.others + fresh.length - added,
    }
    await counts.replaceOne({ _id: owned._id, version: owned.version }, changed)
  }
  const operations = next.map((one): AnyBulkWriteOperation<DiamondBson> => {
    if (!storedById.has(one._id)) return { insertOne: { document: one } }
    const { _id, ...replacement } = one
    return { replaceOne: { filter: { _id, revision: { $lt: revision } }, replacement } }
  })
  await documents.bulkWrite(operations, { ordered: false })
  await advance(bare, revision)
}

/** Writes a batch as upserts, without guards and counts. */
export async function writeUpserts(bare: BareDiamonds, batch: readonly Document[], revision: bigint): Promise<void> {
  const operations = batch.map((document): AnyBulkWriteOperation<DiamondBson> => {
    const { _id, ...replacement } = toBson(document, revision)
    return { replaceOne: { filter: { _id }, replacement, upsert: true } }
  })
  await bare.documents.bulkWrite(operations, { ordered: false })
  await advance(bare, revision)
}

const versions = new WeakMap<BareDiamonds, number>()

/** It has a single writer, which therefore knows the current version. */
async function advance(bare: BareDiamonds, position: bigint): Promise<void> {
  const version = versions.get(bare) ?? 1
  await bare.progress.replaceOne({ _id: 'diamonds', version }, { version: version + 1, position })
  versions.set(bare, version + 1)
}
