import type { Collection } from 'mongodb'
import type { CircuitBreaker } from '../../runtime/circuit-breaker.ts'
import type { FileStore } from '../ports/file-store.ts'
import type { PersonStore } from '../ports/person-store.ts'
import type { ReadStore } from '../ports/read-store.ts'
import type { Vault } from '../ports/vault.ts'
import { inPages } from '../pages.ts'
import { connect, WRITE, type MongoDatabase } from './connection.ts'
import { createMongoReadStore } from './documents.ts'
import { isDuplicate } from './failure.ts'
import { createGridFileStore } from './files.ts'
import { indexedCalls } from './indexed-calls.ts'
import { vaultIn } from './vault.ts'

/** `_id`: the account's id. An erased account keeps a document with `sealed: null`. */
type PersonDocument = {
  readonly _id: number
  readonly sealed: Buffer | null
  readonly at: number
  readonly confirmed: boolean
}

const PAGE = 100

/** Persons' rows in a separate collection. The server's files and its oplog may contain a deleted row for a while. */
export function personsIn(mongo: MongoDatabase): PersonStore {
  const collections = { persons: mongo.db.collection<PersonDocument>('persons') }
  const call = indexedCalls(mongo, collections, [() => collections.persons.createIndex({ confirmed: 1, at: 1 })])
  return {
    put: ({ account, sealed, at }) =>
      call(({ persons }) => upsertPerson(persons, account, { sealed, at, confirmed: false }), WRITE),
    restore: ({ account, sealed, at }) =>
      call(async ({ persons }) => {
        await persons.insertOne({ _id: account, sealed, at, confirmed: false }).catch((error: unknown) => {
          if (!isDuplicate(error)) throw error
        })
      }, WRITE),
    readPerson: async (account) =>
      (await call(({ persons }) => persons.findOne({ _id: account })))?.sealed ?? undefined,
    async forget(accounts) {
      for (const account of accounts) {
        await call(({ persons }) => upsertPerson(persons, account, { sealed: null, at: 0, confirmed: true }), WRITE)
      }
    },
    async unconfirmed(before, limit) {
      const filter = { confirmed: false, at: { $lt: before } }
      const found = await call(({ persons }) => persons.find(filter, { projection: { _id: 1 }, limit }).toArray())
      return found.map(({ _id }) => Number(_id))
    },
    confirm: (accounts) =>
      call(
        async ({ persons }) =>
          void (await persons.updateMany({ _id: { $in: [...accounts] } }, { $set: { confirmed: true } })),
        WRITE,
      ),
    async *all() {
      const read = (after: number) =>
        call(({ persons }) => persons.find({ _id: { $gt: after } }, { sort: { _id: 1 }, limit: PAGE }).toArray())
      for await (const page of inPages(0, PAGE, ({ _id }) => Number(_id), read)) {
        for (const { _id, sealed, at } of page) {
          if (sealed !== null) yield { account: Number(_id), sealed, at: Number(at) }
        }
      }
    },
  }
}

/** Of two concurrent upserts of a new row, one may fail with a duplicate key; its retry updates the row. */
async function upsertPerson(
  persons: Collection<PersonDocument>,
  account: number,
  values: Omit<PersonDocument, '_id'>,
): Promise<void> {
  const put = () => persons.updateOne({ _id: account }, { $set: values }, { upsert: true })
  await put().catch((error: unknown) => {
    if (!isDuplicate(error)) throw error
    return put()
  })
}

/** Read models, vault, persons and files in one database, over one connection pool. */
export type MongoStores = {
  readonly reads: ReadStore
  readonly vault: Vault
  readonly persons: PersonStore
  readonly files: FileStore
  readonly breakers: readonly CircuitBreaker[]
  close(): Promise<void>
}

/**
 * Opens a database of MongoDB 4.4 or newer. While the server is not reachable, calls fail with StoreUnavailable.
 * @param address mongodb://HOST:PORT/DATABASE
 * @param timeoutFactor factor for the timeouts
 * @throws InvalidConnectionString
 */
export function openMongo(address: string, timeoutFactor = 1): MongoStores {
  const mongo = connect(address, timeoutFactor)
  const stores = {
    reads: createMongoReadStore(mongo),
    vault: vaultIn(mongo),
    persons: personsIn(mongo),
    files: createGridFileStore(mongo),
    breakers: [mongo.breaker],
  }
  return {
    ...stores,
    async close() {
      await stores.reads.close()
      await stores.files.close()
      await mongo.close()
    },
  }
}
