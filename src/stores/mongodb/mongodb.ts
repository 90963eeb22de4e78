import type { Log } from '../../runtime/log.ts'
import type { Files } from '../ports/files.ts'
import { connect, type Mongo } from './connection.ts'
import { documentsIn } from './documents.ts'
import { filesIn } from './files.ts'
import { personsIn } from './persons.ts'
import { vaultIn } from './vault.ts'
import type { Persons } from '../ports/persons.ts'
import type { ReadStore } from '../ports/read-store.ts'
import type { Vault } from '../ports/vault.ts'

/** Read models, vault, persons and files in one database, over one pool of connections. */
export type MongoStores = {
  readonly reads: ReadStore
  readonly vault: Vault
  readonly persons: Persons
  readonly files: Files
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
export function openMongo(address: string, log: Log, slower = 1): MongoStores {
  const mongo = connect(address, slower)
  const stores = {
    reads: documentsIn(mongo),
    vault: vaultIn(mongo),
    persons: personsIn(mongo),
    files: filesIn(mongo),
  }
  let closed = false
  void untilReached(mongo, log, () => closed)
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
async function untilReached(mongo: Mongo, log: Log, isClosed: () => boolean): Promise<void> {
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
