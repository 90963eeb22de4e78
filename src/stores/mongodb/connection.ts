import { MongoClient, ReadConcern, type Db, type DbOptions, type MongoClientOptions } from 'mongodb'
import { CircuitBreaker } from '../../runtime/circuit-breaker.ts'
import { withTimeout } from '../../runtime/deadline.ts'
import { Semaphore } from '../../runtime/fairness/semaphores.ts'
import { InvalidConnectionString } from '../ports/connection-string.ts'
import { StoreUnavailable } from '../ports/event-store.ts'
import { toStoreUnavailable, isUnacknowledged, STORE } from './failure.ts'

/** Of the connections, so many may be in use for what requests change: the others are for reading. */
const SHARE = 0.6

type CallState = { readonly isAbandoned: boolean }

/**
 * Writes wait for a majority of the servers. Where that hangs, they keep their connections: a bulkhead leaves some of these
 * for reading. While no majority acknowledges anything, one write at a time tries whether it does again, and the others are
 * refused at once.
 */
class WriteBulkhead {
  readonly breaker: CircuitBreaker
  readonly #bulkhead: Semaphore
  readonly #refusal: () => StoreUnavailable

  /** @param connections 0 for any number of them */
  constructor(connections: number, server: string) {
    this.#bulkhead = new Semaphore(connections === 0 ? Infinity : Math.max(1, Math.floor(connections * SHARE)))
    this.#refusal = () =>
      new StoreUnavailable(
        `MongoDB at ${server} takes no more writes now: no majority of its members acknowledges them`,
        { store: STORE },
      )
    this.breaker = new CircuitBreaker({
      store: STORE,
      calls: 'writes',
      resetTimeoutMs: 0,
      verdict: (error) => (isUnacknowledged(error) ? 'down' : 'nothing'),
      refusal: this.#refusal,
    })
  }

  /**
   * @param caller where it has gone, nothing is begun
   * @throws StoreUnavailable, or what the action throws
   */
  run<Result>(action: () => Promise<Result>, caller: CallState): Promise<Result> {
    const wasClosed = this.breaker.state === 'closed'
    return this.breaker.call(() =>
      this.#bulkhead.run(async () => {
        // It has waited in the queue until nobody is there any more, or until the breaker has opened.
        if (caller.isAbandoned || (wasClosed && this.breaker.state !== 'closed')) throw this.#refusal()
        return action()
      }),
    )
  }
}

/**
 * How a call may take its time: milliseconds after which one that got no answer counts as failed; and whether requests make
 * it that change something, of which a part of the connections is kept free.
 */
export type MongoCallKind = { readonly deadlineMs: number; readonly isRequestWrite: boolean }

export const READ: MongoCallKind = { deadlineMs: 5_000, isRequestWrite: false }
export const WRITE: MongoCallKind = { deadlineMs: 5_000, isRequestWrite: true }
/** Writes of a batch and what makes indexes: no request waits for them, and few are under way at once. */
export const BATCH: MongoCallKind = { deadlineMs: 30_000, isRequestWrite: false }

/** Milliseconds between two looks at each server: what hangs is noticed by them, and calls under way are given up. */
const HEARTBEAT = 2_000
/** Milliseconds that a call waits for a server to be there at all. */
const SERVER_SELECTION_TIMEOUT_MS = 2_000
/**
 * Milliseconds that the primary waits for a majority before it says that there is none: less than the call's deadline, or
 * each such call would keep its connection long after its caller has gone.
 */
const MAJORITY_TIMEOUT_MS = 3_000
const BATCH_MAJORITY_TIMEOUT_MS = 20_000

/** What is acknowledged survives the loss of any one machine. */
const MAJORITY_WRITE_CONCERN = { w: 'majority', journal: true, wtimeoutMS: MAJORITY_TIMEOUT_MS } as const
/** The same for calls of the kind BATCH. */
export const BATCH_WRITE_CONCERN = { ...MAJORITY_WRITE_CONCERN, wtimeoutMS: BATCH_MAJORITY_TIMEOUT_MS } as const

/**
 * What all else rests on: what is acknowledged lasts, and what is read was acknowledged. The database has it in so many
 * words, since some parameters of an address (`readConcernLevel`, `journal`, `wtimeout`) beat the client's own options.
 */
const DATABASE_OPTIONS: DbOptions = {
  writeConcern: MAJORITY_WRITE_CONCERN,
  readConcern: new ReadConcern('majority'),
  readPreference: 'primary',
}

/** Counters of 64 bits come back as bigint. */
const optionsFor = (slower: number): MongoClientOptions => ({
  appName: 'adamant',
  retryWrites: true,
  retryReads: true,
  serverSelectionTimeoutMS: SERVER_SELECTION_TIMEOUT_MS * slower,
  connectTimeoutMS: SERVER_SELECTION_TIMEOUT_MS * slower,
  socketTimeoutMS: BATCH.deadlineMs * slower,
  heartbeatFrequencyMS: HEARTBEAT,
  useBigInt64: true,
  promoteBuffers: true,
  ignoreUndefined: false,
})

/** A database, and the one way to call it. */
export type MongoDatabase = {
  readonly db: Db
  /** Host and port, without a password. */
  readonly server: string
  /** Of the calls of the kind WRITE. */
  readonly breaker: CircuitBreaker
  /** A call under a deadline, READ unless told. @throws StoreUnavailable: the outcome of a write is then unknown */
  call<Result>(action: () => Promise<Result>, kind?: MongoCallKind): Promise<Result>
  /** Waits for what is under way, as long as a call may take. @throws StoreUnavailable; it goes on all the same */
  withDeadline<Result>(running: Promise<Result>, kind: MongoCallKind): Promise<Result>
  close(): Promise<void>
}

/**
 * Connects at the first call, and again whenever the connection is lost.
 * @param address mongodb://HOST:PORT/DATABASE, as https://www.mongodb.com/docs/manual/reference/connection-string/ has it
 * @param slower how many times as long the server may take to answer
 * @throws BadAddress
 */
export function connect(address: string, slower = 1): MongoDatabase {
  const client = clientFor(address, slower)
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

  const writes = new WriteBulkhead(client.options.maxPoolSize, server)
  const wait = <Result>(running: Promise<Result>, { deadlineMs }: MongoCallKind): Promise<Result> =>
    withTimeout(deadlineMs * slower, running, () => {
      throw new StoreUnavailable(`MongoDB at ${server} did not answer within ${deadlineMs * slower} ms`, {
        store: STORE,
      })
    })

  return {
    db: client.db(undefined, DATABASE_OPTIONS),
    server,
    breaker: writes.breaker,
    withDeadline: wait,
    async call(action, kind = READ) {
      const caller = { isAbandoned: false }
      const run = async () => {
        await connection()
        if (caller.isAbandoned)
          throw new StoreUnavailable(`nobody waits any more for MongoDB at ${server}`, { store: STORE })
        return action()
      }
      try {
        return await wait(kind.isRequestWrite ? writes.run(run, caller) : run(), kind)
      } catch (error) {
        throw toStoreUnavailable(error, server)
      } finally {
        caller.isAbandoned = true
      }
    },
    close: () => client.close(),
  }
}

function clientFor(address: string, slower: number): MongoClient {
  try {
    return new MongoClient(address, optionsFor(slower))
  } catch (error) {
    const reason = address.includes('@') || !(error instanceof Error) ? '' : `: ${error.message}`
    throw new InvalidConnectionString(`is no address of MongoDB${reason}`, { cause: error })
  }
}
