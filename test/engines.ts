import { createHash, randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import type { Peer } from './eventstoredb/peer/peer.ts'
import { databaseAt, dropDatabase, mongoUrl } from './mongo-server.ts'

/** Engines under the service: an event store and a read model. `npm test` runs on the embedded ones. */
export const COMBINATIONS = ['sqlite+sqlite', 'esdb+sqlite', 'sqlite+mongodb', 'esdb+mongodb'] as const

export type Engines = Readonly<Record<string, string>>

/** True where everything is in the data folder, by `--engines` and by the environment. */
const { ENGINES = 'sqlite+sqlite', EVENT_STORE = 'sqlite', READ_MODEL = 'sqlite' } = process.env
export const areEmbedded = ENGINES === 'sqlite+sqlite' && EVENT_STORE === 'sqlite' && READ_MODEL === 'sqlite'

/** One key for all services and processes that a test starts. */
const MASTER_KEY = randomBytes(32).toString('base64')

/** The log of each data folder that has one, for as long as this process lives; they don't keep it alive. */
const logs = new Map<string, Promise<Peer>>()

/**
 * The settings that name the engines of a service on this data folder: those of `--engines`, started as they are
 * needed, else EVENT_STORE, READ_MODEL and MASTER_KEY of the environment, else none. A service that is started again
 * on the same folder finds the same log and the same database.
 */
export async function enginesFor(dataDir: string): Promise<Engines> {
  const [events = 'sqlite', reads = 'sqlite'] = (process.env['ENGINES'] ?? '').split('+').filter(Boolean)
  const { EVENT_STORE, MASTER_KEY: given = MASTER_KEY } = process.env
  const mongo = await mongoOf(reads)
  return {
    ...(EVENT_STORE && { EVENT_STORE }),
    ...(events === 'esdb' && { EVENT_STORE: (await logOf(dataDir)).url }),
    ...(mongo && { READ_MODEL: databaseAt(mongo, nameOf(dataDir)) }),
    ...((events !== 'sqlite' || EVENT_STORE !== undefined) && { MASTER_KEY: given }),
  }
}

/** The peer that holds a data folder's log, where the event store is EventStoreDB's peer. */
export function logOf(dataDir: string): Promise<Peer> {
  const known = logs.get(dataDir)
  if (known !== undefined) return known
  // Only here: most tests run on SQLite, and a client and a server of gRPC take longer to load than all the rest.
  const peer = import('./eventstoredb/peer/peer.ts').then(({ startPeer }) => startPeer())
  logs.set(dataDir, peer)
  return peer
}

/** Removes what the engines hold of an installation whose folder goes. */
export async function forgetEngines(dataDir: string): Promise<void> {
  const { READ_MODEL } = await enginesFor(dataDir)
  if (READ_MODEL !== undefined) await dropDatabase(READ_MODEL)
  const peer = logs.get(dataDir)
  logs.delete(dataDir)
  await (await peer)?.stop()
}

/** The server of the read models, where it is one. @throws Error where there is none to be started */
async function mongoOf(engine: string): Promise<string | undefined> {
  const given = process.env['READ_MODEL']
  if (given?.startsWith('mongodb')) return given
  if (engine !== 'mongodb') return undefined
  const url = await mongoUrl()
  if (url === undefined) throw new Error('the engine mongodb needs MONGODB_URL, or FERRETDB_BIN (test/ferretdb)')
  return url
}

const nameOf = (dataDir: string) =>
  `adamant_${createHash('sha256').update(resolve(dataDir)).digest('hex').slice(0, 12)}`
