import { Connection, openSocket, errorIfUnsuccessful, type RawResponse } from './connection.ts'
import { measureLatencies, type LatencyProbe } from './probe.ts'

/** The load to generate. Sent to another process: plain data only. */
export type Load = {
  readonly port: number
  readonly connections: number
  readonly seconds: number
  /** HTTP/1.1 requests as text. UNIQUE is replaced by a nine-digit number, CARRIED by a value according to `carry`. */
  readonly requests: readonly string[]
  /**
   * `round-robin` (default): connections take the requests in turn. `one-per-connection`: each connection repeats one
   * request. `all-per-connection`: each connection sends all requests in sequence.
   */
  readonly order?: 'round-robin' | 'one-per-connection' | 'all-per-connection'
  /** First number for UNIQUE, so that no two measurements send the same. */
  readonly unique: number
  /**
   * Sent concurrently with the load by the same process. A separate process would compete with this one, which never
   * sleeps.
   */
  readonly probe?: LatencyProbe
  /**
   * For requests that need a value from the previous response: each connection's first value, and a pattern to find the
   * next.
   */
  readonly carry?: { readonly first: readonly string[]; readonly pattern: string }
}

export type LoadResult = {
  readonly requests: number
  readonly seconds: number
  readonly rate: number
  /** The next unused number for UNIQUE. */
  readonly unique: number
  /** Latencies of the watched requests in microseconds. */
  readonly probeLatenciesUs: readonly number[]
}

/** Replaced by a number that no other request has. */
export const UNIQUE = '{unique}'
/** Replaced by a value from the connection's previous response. */
export const CARRIED = '{carried}'

/** A clock in milliseconds with an arbitrary origin. */
export type Now = () => number

/**
 * Keeps every connection busy with one request at a time until the time is over.
 * @throws if any status is not 2xx
 */
export async function measure(load: Load, now: Now = () => performance.now()): Promise<LoadResult> {
  const startedAt = now()
  const stopBusyLoop = keepEventLoopBusy()
  const end = startedAt + load.seconds * 1000
  const probing = load.probe === undefined ? [] : measureLatencies(load.port, load.probe, end, now)
  const [sent, latencies] = await Promise.all([driveConnections(load, end, now), probing]).finally(stopBusyLoop)
  const milliseconds = now() - startedAt
  return {
    requests: sent,
    seconds: milliseconds / 1000,
    rate: (sent * 1000) / milliseconds,
    unique: load.unique + sent,
    probeLatenciesUs: latencies,
  }
}

/**
 * Keeps the event loop busy. On a virtual machine an idle core takes up to 50 us to wake up, which would dominate the
 * measured rate with few connections. @returns a function that stops it
 */
function keepEventLoopBusy(): () => void {
  let isBusy = true
  const turn = () => {
    if (isBusy) setImmediate(turn)
  }
  turn()
  return () => {
    isBusy = false
  }
}

async function driveConnections(load: Load, end: number, now: Now): Promise<number> {
  const next = requestSequence(load)
  const sockets = await Promise.all(Array.from({ length: load.connections }, () => openSocket(load.port)))
  let responseCount = 0
  const runConnection = (socket: (typeof sockets)[number], index: number) =>
    new Promise<void>((done, fail) => {
      let carried = load.carry?.first[index] ?? ''
      const connection: Connection = new Connection(socket, onResponse, fail)
      connection.send(next(index, carried))

      function onResponse(response: RawResponse): void {
        responseCount++
        const error = errorIfUnsuccessful(response)
        if (error) return onError(error)
        if (load.carry) carried = extract(response, load.carry.pattern)
        if (now() < end) return connection.send(next(index, carried))
        connection.close()
        done()
      }

      function onError(error: Error): void {
        connection.close()
        fail(error)
      }
    })
  await Promise.all(sockets.map(runConnection))
  return responseCount
}

/** Returns the next request with its placeholders replaced. The texts are split once, for speed. */
function requestSequence(load: Load): (connection: number, carried: string) => string {
  const templates = load.requests.map((request) => request.split(UNIQUE))
  let turn = 0
  const turns = Array.from({ length: load.connections }, () => 0)
  const turnOf = (connection: number) => {
    if (load.order === 'one-per-connection') return connection
    if (load.order !== 'all-per-connection') return turn++
    const count = turns[connection] ?? 0
    turns[connection] = count + 1
    return count
  }
  let unique = load.unique
  return (connection, carried) => {
    const pieces = templates[turnOf(connection) % templates.length] ?? []
    const text = pieces.length === 1 ? (pieces[0] ?? '') : pieces.join(String(unique++).padStart(9, '0'))
    return load.carry ? text.replace(CARRIED, carried) : text
  }
}

function extract(response: RawResponse, pattern: string): string {
  const value = new RegExp(pattern, 'i').exec(response.text)?.[1]
  if (value === undefined) throw new Error(`no match for ${pattern} in the response:\n${response.text.slice(0, 2000)}`)
  return value
}
