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
 * Replacements in one call. FerretDB 1.24 holds one of its hundred connections to SQLite for each until the call ends: a hundred
 * wait for each other for ever. Several processes write at once, so that each takes less than a third.
 */
const REPLACED_AT_ONCE = 32

/**
 * Writes documents in few calls, each in place of what was read of it, where that has a lower revision. What was missing is
 * inserted: no upsert, which would try to insert what its guard has passed over.
 * @param stored what was there when the batch was counted
 * @returns false where one of them is not what was read any more: what is to be written is decided again
 */
export async function writeDocuments(
  documents: Collection<Held>,
  next: readonly Held[],
  stored: ReadonlyMap<string, Held>,
): Promise<boolean> {
  const missing: AnyBulkWriteOperation<Held>[] = []
  const replaced: AnyBulkWriteOperation<Held>[] = []
  for (const held of next) {
    const { _id, ...replacement } = held
    const before = stored.get(_id)
    if (before === undefined) missing.push({ insertOne: { document: held } })
    else if (before.revision < held.revision)
      replaced.push({ replaceOne: { filter: { _id, revision: before.revision }, replacement } })
  }
  if (missing.length > 0 && !(await write(documents, missing))) return false
  for (let first = 0; first < replaced.length; first += REPLACED_AT_ONCE)
    if (!(await write(documents, replaced.slice(first, first + REPLACED_AT_ONCE)))) return false
  return true
}

async function write(documents: Collection<Held>, operations: AnyBulkWriteOperation<Held>[]): Promise<boolean> {
  try {
    const done = await documents.bulkWrite(operations, { ordered: false, writeConcern: BATCH_ACKNOWLEDGED })
    return done.insertedCount + done.matchedCount === operations.length
  } catch (error) {
    if (isDuplicate(error)) return false
    throw error
  }
}
