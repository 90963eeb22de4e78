import type { Collection, Db, FindOptions, OptionalUnlessRequiredId } from 'mongodb'
import { randomUUID } from 'node:crypto'
import { READ, WRITE, type MongoDatabase } from './connection.ts'
import { isDuplicate, lacksLinearizableReads } from './failure.ts'

/** The primary makes sure that it still is one, and gives what it has, instead of what it knows a majority to have. */
const LINEARIZABLE: FindOptions = { readConcern: { level: 'linearizable' }, maxTimeMS: READ.deadlineMs - 1_000 }

/** Databases on servers that have no such reading: they have one member, and no elections. */
const standaloneDatabases = new WeakSet<Db>()

/**
 * Reads what was acknowledged before, whatever was elected meanwhile. A new primary of MongoDB before 8.0 does not know at
 * first how much of what it has a majority has too, and shows less than was acknowledged (SERVER-53813). It costs waiting
 * for a majority once, so it is for what is decided by there being nothing, or can't be guarded when it is written.
 * @param read must pass on the options
 */
export async function readLinearizable<Result>(
  mongo: Pick<MongoDatabase, 'db' | 'call'>,
  read: (options: FindOptions) => Promise<Result>,
): Promise<Result> {
  if (!standaloneDatabases.has(mongo.db)) {
    try {
      return await mongo.call(() => read(LINEARIZABLE))
    } catch (error) {
      if (!lacksLinearizableReads(error)) throw error
      standaloneDatabases.add(mongo.db)
    }
  }
  return mongo.call(() => read({}))
}

/** Inserting a unique `_id` is atomic on every server. @returns false where it was there already */
export async function insertIfAbsent<Document extends { readonly _id: string }>(
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

type IdentityDocument = { readonly _id: string; readonly identity: string }

/** Of the vault or the files of a database, made once, by whichever process is first. @throws StoreUnavailable */
export function readOrCreateIdentity(mongo: MongoDatabase, name: 'vault' | 'files'): Promise<string> {
  const identities = mongo.db.collection<IdentityDocument>('identities')
  return mongo.call(async () => {
    const known = await identities.findOne({ _id: name })
    if (known !== null) return known.identity
    const identity = randomUUID()
    if (await insertIfAbsent(identities, { _id: name, identity })) return identity
    return (await identities.findOne({ _id: name }))?.identity ?? identity
  }, WRITE)
}
