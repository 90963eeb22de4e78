import type { AnyBulkWriteOperation, Collection } from 'mongodb'
import type { ModelDeclaration, Write } from '../../ports/read-store.ts'
import { BATCH_ACKNOWLEDGED } from '../connection.ts'
import { isDuplicate } from '../failure.ts'
import { keyOfWrite } from './counting.ts'
import { heldOf, type Held } from './shape.ts'

/** What a write leaves: whole documents only. A removal keeps key and revision (shape.ts). */
export const heldBy = (declaration: ModelDeclaration, write: Write): Held =>
  'put' in write ? heldOf(declaration, write.put, write.revision) : { _id: keyOfWrite(write), revision: write.revision }

/**
 * Writes documents in one call, each in place of what was read of it, where that has a lower revision. What was missing is
 * inserted: no upsert, which would try to insert what its guard has passed over.
 * @param stored what was there when the batch was counted
 * @returns false where one of them is not what was read any more: what is to be written is decided again
 */
export async function writeDocuments(
  documents: Collection<Held>,
  next: readonly Held[],
  stored: ReadonlyMap<string, Held>,
): Promise<boolean> {
  const operations = next.flatMap((held): AnyBulkWriteOperation<Held>[] => {
    const { _id, ...replacement } = held
    const before = stored.get(_id)
    if (before === undefined) return [{ insertOne: { document: held } }]
    if (before.revision >= held.revision) return []
    return [{ replaceOne: { filter: { _id, revision: before.revision }, replacement } }]
  })
  if (operations.length === 0) return true
  try {
    const done = await documents.bulkWrite(operations, { ordered: false, writeConcern: BATCH_ACKNOWLEDGED })
    return done.insertedCount + done.matchedCount === operations.length
  } catch (error) {
    if (isDuplicate(error)) return false
    throw error
  }
}
