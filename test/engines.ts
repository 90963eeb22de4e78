import { createHash, randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import type { Peer } from './eventstoredb/peer/peer.ts'
import { databaseAt, dropDatabase, mongoUrl } from './mongo-server.ts'

/** Pairs of event store and read model engine. `npm test` runs on the embedded engines. */
export const ENGINE_COMBINATIONS = ['sqlite+sqlite', 'esdb+sqlite', 'sqlite+mongodb', 'esdb+mongodb'] as const

export type Engines = Readonly<Record<string, string>>

/** Whether `--engines` and the environment keep all data in the data folder. */
const { ENGINES = 'sqlite+sqlite', EVENT_STORE = 'sqlite', READ_MODEL = 'sqlite' } = process.env
export const areEmbedded = ENGINES === 'sqlite+sqlite' && EVENT_STORE === 'sqlite' && READ_MODEL === 'sqlite'

/** Shared by all services and processes that a test starts. */
const MASTER_KEY = randomBytes(32).toString('base64')

/** The EventStoreDB peer of each data folder. The peers run until this process ends and don't keep it alive. */
const peers = new Map<string, Promise<Peer>>()

/**
 * The engine settings of a service on this data folder: the engines of `--engines`, started on first use, otherwise
 * EVENT_STORE, READ_MODEL and MASTER_KEY of the environment, otherwise none. A service that restarts on the same folder
 * gets the same log and the same database.
 */
export async function enginesFor(dataDir: string): Promise<Engines> {
  const [events = 'sqlite', reads = 'sqlite'] = (process.env['ENGINES'] ?? '').split('+').filter(Boolean)
  const { EVENT_STORE, MASTER_KEY: given = MASTER_KEY } = process.env
  const mongo = await mongoOf(reads)
  return {
    ...(EVENT_STORE && { EVENT_STORE }),
    ...(events === 'esdb' && { EVENT_STORE: (await peerOf(dataDir)).url }),
    ...(mongo && { READ_MODEL: databaseAt(mongo, nameOf(dataDir)) }),
    ...((events !== 'sqlite' || EVENT_STORE !== undefined) && { MASTER_KEY: given }),
  }
}

/** The EventStoreDB peer that holds a data folder's log. Starts it on first use. */
export function peerOf(dataDir: string): Promise<Peer> {
  const existing = peers.get(dataDir)
  if (existing !== undefined) return existing
  // Loaded on first use: most tests run on SQLite, and the gRPC client and server are slow to load.
  const peer = import('./eventstoredb/peer/peer.ts').then(async ({ startPeer }) => {
    const started = await startPeer()
    started.faults.stallOnConcurrentReads()
    return started
  })
  peers.set(dataDir, peer)
  return peer
}

/** Deletes an installation's data from the engines. Call it when the data folder is deleted. */
export async function forgetEngines(dataDir: string): Promise<void> {
  const { READ_MODEL } = await enginesFor(dataDir)
  if (READ_MODEL !== undefined) await dropDatabase(READ_MODEL)
  const peer = peers.get(dataDir)
  peers.delete(dataDir)
  await (await peer)?.stop()
}

/** The address of the read models' MongoDB server, if they are on one. @throws Error if no server can be started */
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
