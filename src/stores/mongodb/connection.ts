import { MongoClient, type Db, type MongoClientOptions } from 'mongodb'
import { StoreUnavailable } from '../event-store.ts'
import { failureOf } from './failure.ts'

/** Milliseconds after which a call that got no answer counts as failed. */
const DEADLINE = 5_000
/** The same for the writes of a batch, which no request waits for. */
export const BATCH_DEADLINE = 30_000
/** Milliseconds between two looks at each server: what hangs is noticed by them, and calls under way are given up. */
const HEARTBEAT = 2_000
/** Milliseconds that a call waits for a server to be there at all. */
const SELECTION = 2_000

/**
 * What is acknowledged survives the loss of any one machine, and what is read was acknowledged. Counters of 64 bits come
 * back as bigint.
 */
const OPTIONS: MongoClientOptions = {
  appName: 'adamant',
  writeConcern: { w: 'majority', journal: true },
  readConcern: { level: 'majority' },
  readPreference: 'primary',
  retryWrites: true,
  retryReads: true,
  serverSelectionTimeoutMS: SELECTION,
  connectTimeoutMS: SELECTION,
  socketTimeoutMS: BATCH_DEADLINE,
  heartbeatFrequencyMS: HEARTBEAT,
  useBigInt64: true,
  promoteBuffers: true,
  ignoreUndefined: false,
}

/** A database, and the one way to call it. */
export type Mongo = {
  readonly db: Db
  /** Host and port, without a password. */
  readonly server: string
  /** A call under a deadline, 5 s unless told. @throws StoreUnavailable: the outcome of a write is then unknown */
  call<Result>(action: () => Promise<Result>, deadline?: number): Promise<Result>
  close(): Promise<void>
}

/** The address can't be understood; nothing was tried. */
export class BadAddress extends Error {
  override readonly name = 'BadAddress'
}

/**
 * Connects at the first call, and again whenever the connection is lost.
 * @param address mongodb://HOST:PORT/DATABASE, as https://www.mongodb.com/docs/manual/reference/connection-string/ has it
 * @throws BadAddress
 */
export function connect(address: string): Mongo {
  const client = clientFor(address)
  const server = client.options.srvHost ?? client.options.hosts.map(String).join(',')
  let connected: Promise<unknown> | undefined

  /**
   * A client whose first connection has failed answers every operation with "Topology is closed" from then on; only
   * another `connect` begins anew. One that was connected once connects again by itself.
   */
  async function connection(): Promise<void> {
    const trying = (connected ??= client.connect())
    try {
      await trying
    } catch (error) {
      if (connected === trying) connected = undefined
      throw error
    }
  }

  return {
    db: client.db(),
    server,
    async call(action, deadline = DEADLINE) {
      try {
        return await within(deadline, connection().then(action), server)
      } catch (error) {
        throw failureOf(error, server)
      }
    },
    close: () => client.close(),
  }
}

function clientFor(address: string): MongoClient {
  try {
    return new MongoClient(address, OPTIONS)
  } catch (error) {
    throw new BadAddress(error instanceof Error ? error.message : 'unknown', { cause: error })
  }
}

async function within<Result>(ms: number, running: Promise<Result>, server: string): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_done, fail) => {
    timer = setTimeout(() => fail(new StoreUnavailable(`MongoDB at ${server} did not answer within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([running, late])
  } finally {
    clearTimeout(timer)
    running.catch(() => undefined)
  }
}
