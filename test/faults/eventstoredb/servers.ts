import { randomBytes } from 'node:crypto'
import type { EventStore } from '../../../src/stores/ports/event-store.ts'
import { openEventStoreDB } from '../../../src/stores/eventstoredb/eventstoredb.ts'
import { startPeerProcess, type PeerProcess } from '../../eventstoredb/peer-process.ts'
import { mongoServer, type MongoServer } from '../../mongo-server.ts'
import { withInstallation, type TestInstallation } from '../serving.ts'

/** An installation with its log in the EventStoreDB peer and its read models in MongoDB, each in a separate process. */
export type Servers = TestInstallation & {
  readonly peer: PeerProcess
  /** The address of the read models' database. */
  readonly database: string
  /** The log, opened by the test's process. */
  readonly log: EventStore
}

/** Finds MongoDB and prints a note with both servers, or that the suite is left out. */
export async function findServers(suites: string): Promise<MongoServer | undefined> {
  const mongo = await mongoServer(suites)
  if (mongo !== undefined) console.log(`NOTE: ${suites}: on EventStoreDB's peer in a separate process`)
  return mongo
}

/** Runs with a new installation on these servers; all processes end even if the run fails. */
export async function withServers(
  mongo: MongoServer | undefined,
  run: (servers: Servers) => Promise<void>,
): Promise<void> {
  if (mongo === undefined) throw new Error('there is no MongoDB')
  const peer = await startPeerProcess()
  const database = mongo.newDatabase()
  const log = openEventStoreDB(peer.url)
  const settings = { EVENT_STORE: peer.url, READ_MODEL: database, MASTER_KEY: randomBytes(32).toString('base64') }
  try {
    await withInstallation((installed) => run({ ...installed, peer, database, log }), settings)
  } finally {
    await peer.stop()
    await log.close()
    await mongo.drop(database)
  }
}
