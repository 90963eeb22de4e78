import { MongoClient, ReadConcern, type Db, type DbOptions, type MongoClientOptions } from 'mongodb'
import { CircuitBreaker } from '../../runtime/circuit-breaker.ts'
import { withTimeout } from '../../runtime/deadline.ts'
import { Semaphore } from '../../runtime/fairness/semaphores.ts'
import { InvalidConnectionString } from '../ports/connection-string.ts'
import { StoreUnavailable } from '../ports/event-store.ts'
import { toStoreUnavailable, isUnacknowledged, STORE } from './failure.ts'

/** The share of the connections that requests' writes may use; the others are reserved for reads. */
const REQUEST_WRITE_SHARE = 0.6

type CallState = { readonly isAbandoned: boolean }

/**
 * Writes wait for a majority of the members. If that hangs, they keep their connections; this bulkhead reserves some
 * for reads. While no majority acknowledges writes, the circuit breaker lets one write at a time through as a trial and
 * rejects the others immediately.
 */
class WriteBulkhead {
  readonly breaker: CircuitBreaker
  readonly #bulkhead: Semaphore
  readonly #refusal: () => StoreUnavailable

  /** @param connections size of the connection pool; 0 means unlimited */
  constructor(connections: number, server: string) {
    this.#bulkhead = new Semaphore(
      connections === 0 ? Infinity : Math.max(1, Math.floor(connections * REQUEST_WRITE_SHARE)),
    )
    this.#refusal = () =>
      new StoreUnavailable(
        `MongoDB at ${server} does not accept writes now: no majority of its members acknowledges them`,
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
   * @param caller if it has abandoned the call, the action is not started
   * @throws StoreUnavailable, or the error of the action
   */
  run<Result>(action: () => Promise<Result>, caller: CallState): Promise<Result> {
    const wasClosed = this.breaker.state === 'closed'
    return this.breaker.call(() =>
      this.#bulkhead.run(async () => {
        // While the call was queued, its caller may have given up or the breaker may have opened.
        if (caller.isAbandoned || (wasClosed && this.breaker.state !== 'closed')) throw this.#refusal()
        return action()
      }),
    )
  }
}

/** How a call is limited: its deadline in milliseconds, and whether it is a request's write, which passes the bulkhead. */
export type MongoCallKind = { readonly deadlineMs: number; readonly isRequestWrite: boolean }

export const READ: MongoCallKind = { deadlineMs: 5_000, isRequestWrite: false }
export const WRITE: MongoCallKind = { deadlineMs: 5_000, isRequestWrite: true }
/** Batch writes and index builds: no request waits for them, and only few run concurrently. */
export const BATCH: MongoCallKind = { deadlineMs: 30_000, isRequestWrite: false }

/** Milliseconds between two health checks of each server. They detect a hanging server and abort its pending calls. */
const HEALTH_CHECK_INTERVAL_MS = 2_000
const SERVER_SELECTION_TIMEOUT_MS = 2_000
/**
 * Milliseconds that the primary waits for a majority (wtimeout). Shorter than the call's deadline; otherwise a call
 * would keep its connection long after its caller has given up.
 */
const MAJORITY_TIMEOUT_MS = 3_000
const BATCH_MAJORITY_TIMEOUT_MS = 20_000

/** Acknowledged writes survive the loss of any one machine. */
const MAJORITY_WRITE_CONCERN = { w: 'majority', journal: true, wtimeoutMS: MAJORITY_TIMEOUT_MS } as const
/** The same for calls of kind BATCH. */
export const BATCH_WRITE_CONCERN = { ...MAJORITY_WRITE_CONCERN, wtimeoutMS: BATCH_MAJORITY_TIMEOUT_MS } as const

/**
 * Acknowledged writes are durable, and reads return acknowledged data. Set on the database because parameters of the
 * connection string (`readConcernLevel`, `journal`, `wtimeout`) override the client's options.
 */
const DATABASE_OPTIONS: DbOptions = {
  writeConcern: MAJORITY_WRITE_CONCERN,
  readConcern: new ReadConcern('majority'),
  readPreference: 'primary',
}

/** useBigInt64: 64-bit integers are returned as bigint. */
const optionsFor = (timeoutFactor: number): MongoClientOptions => ({
  appName: 'adamant',
  retryWrites: true,
  retryReads: true,
  serverSelectionTimeoutMS: SERVER_SELECTION_TIMEOUT_MS * timeoutFactor,
  connectTimeoutMS: SERVER_SELECTION_TIMEOUT_MS * timeoutFactor,
  socketTimeoutMS: BATCH.deadlineMs * timeoutFactor,
  heartbeatFrequencyMS: HEALTH_CHECK_INTERVAL_MS,
  useBigInt64: true,
  promoteBuffers: true,
  ignoreUndefined: false,
})

export type MongoDatabase = {
  readonly db: Db
  /** Host and port, without credentials. */
  readonly server: string
  /** The circuit breaker for calls of kind WRITE. */
  readonly breaker: CircuitBreaker
  /** Makes a call with a deadline, READ by default. @throws StoreUnavailable after which a write's outcome is unknown */
  call<Result>(action: () => Promise<Result>, kind?: MongoCallKind): Promise<Result>
  /** Waits for a running operation, up to the deadline of `kind`. @throws StoreUnavailable; the operation continues */
  withDeadline<Result>(running: Promise<Result>, kind: MongoCallKind): Promise<Result>
  close(): Promise<void>
}

/**
 * Connects with the first call and reconnects automatically.
 * @param address mongodb://HOST:PORT/DATABASE; see https://www.mongodb.com/docs/manual/reference/connection-string/
 * @param timeoutFactor factor for the timeouts
 * @throws InvalidConnectionString
 */
export function connect(address: string, timeoutFactor = 1): MongoDatabase {
  const client = clientFor(address, timeoutFactor)
  const server = client.options.srvHost ?? client.options.hosts.map(String).join(',')
  let connecting: Promise<unknown> | undefined

  /**
   * After a failed first connection, every operation of a client fails with "Topology is closed" until `connect` is
   * called again. After a successful one, the client reconnects automatically.
   */
  async function ensureConnected(): Promise<void> {
    const attempt = (connecting ??= client.connect())
    try {
      await attempt
    } catch (error) {
      if (connecting === attempt) connecting = undefined
      throw error
    }
  }

  const writes = new WriteBulkhead(client.options.maxPoolSize, server)
  const withDeadline = <Result>(running: Promise<Result>, { deadlineMs }: MongoCallKind): Promise<Result> =>
    withTimeout(deadlineMs * timeoutFactor, running, () => {
      throw new StoreUnavailable(`MongoDB at ${server} did not respond within ${deadlineMs * timeoutFactor} ms`, {
        store: STORE,
      })
    })

  return {
    db: client.db(undefined, DATABASE_OPTIONS),
    server,
    breaker: writes.breaker,
    withDeadline,
    async call(action, kind = READ) {
      const caller = { isAbandoned: false }
      const run = async () => {
        await ensureConnected()
        if (caller.isAbandoned)
          throw new StoreUnavailable(`the call to MongoDB at ${server} was abandoned after its deadline`, {
            store: STORE,
          })
        return action()
      }
      try {
        return await withDeadline(kind.isRequestWrite ? writes.run(run, caller) : run(), kind)
      } catch (error) {
        throw toStoreUnavailable(error, server)
      } finally {
        caller.isAbandoned = true
      }
    },
    close: () => client.close(),
  }
}

function clientFor(address: string, timeoutFactor: number): MongoClient {
  try {
    return new MongoClient(address, optionsFor(timeoutFactor))
  } catch (error) {
    const reason = address.includes('@') || !(error instanceof Error) ? '' : `: ${error.message}`
    throw new InvalidConnectionString(`is not a MongoDB connection string${reason}`, { cause: error })
  }
}
