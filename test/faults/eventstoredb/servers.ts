import { randomBytes } from 'node:crypto'
import type { EventStore } from '../../../src/stores/ports/event-store.ts'
import { openEventStoreDB } from '../../../src/stores/eventstoredb/eventstoredb.ts'
import { startPeerProcess, type PeerProcess } from '../../eventstoredb/peer-process.ts'
import { mongoServer, type MongoServer } from '../../mongo-server.ts'
import { withInstallation, type Installed } from '../serving.ts'

/** An installation whose log is in EventStoreDB's peer and whose read models are in MongoDB, each a process of its own. */
export type Servers = Installed & {
  readonly peer: PeerProcess
  /** The address of the read models' database. */
  readonly database: string
  /** The log, as this process reads it. */
  readonly log: EventStore
}

/** What MongoDB is here; the output names both servers, or says that the suite is left out. */
export async function findServers(what: string): Promise<MongoServer | undefined> {
  const mongo = await mongoServer(what)
  if (mongo !== undefined) console.log(`NOTE: ${what}: on EventStoreDB's peer in a process of its own`)
  return mongo
}

/** Runs with servers and an installation of its own; they end however the run ends. */
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
