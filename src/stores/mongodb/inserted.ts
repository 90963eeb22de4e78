import type { Collection, OptionalUnlessRequiredId } from 'mongodb'
import { isDuplicate } from './failure.ts'

/** Inserting a unique `_id` is atomic on every server. @returns false where it was there already */
export async function inserted<Document extends { readonly _id: string }>(
  collection: Collection<Document>,
  document: Document,
): Promise<boolean> {
  try {
    await collection.insertOne(document as OptionalUnlessRequiredId<Document>)
    return true
  } catch (error) {
    if (isDuplicate(error)) return false
    throw error
  }
}
