import type { AnyBulkWriteOperation, Collection } from 'mongodb'
import { MongoBulkWriteError } from 'mongodb'
import type { ModelDeclaration, Write } from '../../read-store.ts'
import { BATCH_ACKNOWLEDGED } from '../connection.ts'
import { faultsIn, isDuplicate } from '../failure.ts'
import { keyOfWrite } from './counting.ts'
import { heldOf, type Held } from './shape.ts'

/** What a write leaves: whole documents only. A removal keeps key and revision (shape.ts). */
export const heldBy = (declaration: ModelDeclaration, write: Write): Held =>
  'put' in write ? heldOf(declaration, write.put, write.revision) : { _id: keyOfWrite(write), revision: write.revision }

/**
 * Writes documents in one call, each where the stored one is missing or has a lower revision. What is missing is
 * inserted, and an insert that another runner was faster with becomes a guarded replacement: no upsert, which would try
 * to insert what its guard has passed over.
 * @param stored what was there when the batch was counted
 */
export async function writeDocuments(
  documents: Collection<Held>,
  next: readonly Held[],
  stored: ReadonlyMap<string, Held>,
): Promise<void> {
  const due = next.filter((held) => (stored.get(held._id)?.revision ?? -1n) < held.revision)
  const lost = await insertOrReplace(documents, due, (held) => stored.has(held._id))
  if (lost.length > 0) await insertOrReplace(documents, lost, () => true)
}

/** @returns what was to be inserted and is there by now */
async function insertOrReplace(
  documents: Collection<Held>,
  due: readonly Held[],
  isThere: (held: Held) => boolean,
): Promise<Held[]> {
  if (due.length === 0) return []
  const operations = due.map((held): AnyBulkWriteOperation<Held> => {
    if (!isThere(held)) return { insertOne: { document: held } }
    const { _id, ...replacement } = held
    return { replaceOne: { filter: { _id, revision: { $lt: held.revision } }, replacement } }
  })
  try {
    await documents.bulkWrite(operations, { ordered: false, writeConcern: BATCH_ACKNOWLEDGED })
    return []
  } catch (error) {
    if (!isDuplicate(error) || !(error instanceof MongoBulkWriteError)) throw error
    return faultsIn(error).flatMap(({ index }) => due[index] ?? [])
  }
}
