import type { Collection, Db, FindOptions, OptionalUnlessRequiredId } from 'mongodb'
import { randomUUID } from 'node:crypto'
import { READ, WRITE, type MongoDatabase } from './connection.ts'
import { isDuplicate, lacksLinearizableReads } from './failure.ts'

/**
 * The primary confirms with a majority that it is still primary, and returns its own data instead of the
 * majority-committed snapshot.
 */
const LINEARIZABLE: FindOptions = { readConcern: { level: 'linearizable' }, maxTimeMS: READ.deadlineMs - 1_000 }

/** Databases on servers without linearizable reads: these have one member and no elections. */
const standaloneDatabases = new WeakSet<Db>()

/**
 * Reads everything acknowledged before the call, even after an election: a new primary of MongoDB before 8.0 may at
 * first return less than was acknowledged (SERVER-53813). Costs a majority round trip, so use it only for decisions
 * based on absence, or on data that the later write cannot guard.
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

/** Inserting a unique `_id` is atomic on every server. @returns false if the document exists already */
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

/** The identity of the database's vault or files. Created once, by the first process. @throws StoreUnavailable */
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
