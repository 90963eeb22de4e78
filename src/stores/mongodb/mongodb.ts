import type { Collection } from 'mongodb'
import type { CircuitBreaker } from '../../runtime/circuit-breaker.ts'
import type { AppLogger } from '../../runtime/logger.ts'
import type { FileStore } from '../ports/file-store.ts'
import type { PersonStore } from '../ports/person-store.ts'
import type { ReadStore } from '../ports/read-store.ts'
import type { Vault } from '../ports/vault.ts'
import { connect, WRITE, type MongoDatabase } from './connection.ts'
import { createMongoReadStore } from './documents.ts'
import { isDuplicate } from './failure.ts'
import { createGridFileStore } from './files.ts'
import { indexedCalls } from './indexed-calls.ts'
import { vaultIn } from './vault.ts'

/** `_id`: the account's id. Of one that was forgotten nothing else is there: `sealed` is null. */
type PersonDocument = {
  readonly _id: number
  readonly sealed: Buffer | null
  readonly at: number
  readonly confirmed: boolean
}

/** Rows that are read together. */
const PAGE = 100

/** The rows of persons in a collection of their own. The server's files and its oplog may hold a deleted one for a while. */
export function personsIn(mongo: MongoDatabase): PersonStore {
  const collections = { persons: mongo.db.collection<PersonDocument>('persons') }
  const call = indexedCalls(mongo, collections, [() => collections.persons.createIndex({ confirmed: 1, at: 1 })])
  return {
    put: ({ account, sealed, at }) =>
      call(({ persons }) => upsertPerson(persons, account, { sealed, at, confirmed: false }), WRITE),
    putBack: ({ account, sealed, at }) =>
      call(async ({ persons }) => {
        await persons.insertOne({ _id: account, sealed, at, confirmed: false }).catch((error: unknown) => {
          if (!isDuplicate(error)) throw error
        })
      }, WRITE),
    read: async (account) => (await call(({ persons }) => persons.findOne({ _id: account })))?.sealed ?? undefined,
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
      for (let behind = 0; ;) {
        const filter = { _id: { $gt: behind } }
        const page = await call(({ persons }) => persons.find(filter, { sort: { _id: 1 }, limit: PAGE }).toArray())
        for (const { _id, sealed, at } of page) {
          if (sealed !== null) yield { account: Number(_id), sealed, at: Number(at) }
        }
        const last = page.at(-1)
        if (last === undefined || page.length < PAGE) return
        behind = Number(last._id)
      }
    },
  }
}

/** Two that make one row at once: the second finds it. */
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

/** Read models, vault, persons and files in one database, over one pool of connections. */
export type MongoStores = {
  readonly reads: ReadStore
  readonly vault: Vault
  readonly persons: PersonStore
  readonly files: FileStore
  readonly breakers: readonly CircuitBreaker[]
  /** Closes all of them. */
  close(): Promise<void>
}

/**
 * Opens a database of MongoDB 4.4 or newer. A server that is away is waited for: until it is there, calls are answered
 * with StoreUnavailable.
 * @param address mongodb://HOST:PORT/DATABASE
 * @param slower how many times as long the server may take to answer
 * @throws BadAddress
 */
export function openMongo(address: string, log: AppLogger, slower = 1): MongoStores {
  const mongo = connect(address, slower)
  const stores = {
    reads: createMongoReadStore(mongo),
    vault: vaultIn(mongo),
    persons: personsIn(mongo),
    files: createGridFileStore(mongo),
    breakers: [mongo.breaker],
  }
  let closed = false
  void waitUntilReachable(mongo, log, () => closed)
  return {
    ...stores,
    async close() {
      closed = true
      await stores.reads.close()
      await stores.files.close()
      await mongo.close()
    },
  }
}

/** Milliseconds between two tries to reach the server at the start. */
const RETRY = 1_000

/** Says at the start that a server is not there, and when it is. */
async function waitUntilReachable(mongo: MongoDatabase, log: AppLogger, isClosed: () => boolean): Promise<void> {
  let told = false
  while (!isClosed()) {
    try {
      await mongo.call(() => mongo.db.command({ ping: 1 }))
      if (told) log.info({ server: mongo.server }, 'MongoDB is reached')
      return
    } catch (error) {
      if (!told && !isClosed()) {
        const reason = error instanceof Error ? error.message : 'unknown'
        log.warn({ server: mongo.server, reason }, 'MongoDB is not reached; not ready until it is, and trying again')
      }
      told = true
      await new Promise<void>((done) => setTimeout(done, RETRY).unref())
    }
  }
}
