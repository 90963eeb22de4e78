import { Connection, open, refusalOf, type Answer } from './connection.ts'
import { watch, type Watched } from './watch.ts'

/** The load to generate. Sent to another process: plain data only. */
export type Load = {
  readonly port: number
  readonly connections: number
  readonly seconds: number
  /** HTTP/1.1 requests as text. UNIQUE is replaced by a nine-digit number, CARRIED by a value according to `carry`. */
  readonly requests: readonly string[]
  /**
   * `shared` (default): connections take the requests in turn. `own`: each connection repeats one request. `each`: each
   * connection sends all requests in sequence.
   */
  readonly turns?: 'shared' | 'own' | 'each'
  /** First number for UNIQUE, so that no two measurements send the same. */
  readonly unique: number
  /**
   * Sent concurrently with the load by the same process. A separate process would compete with this one, which never
   * sleeps.
   */
  readonly watched?: Watched
  /**
   * For requests that need a value from the previous response: each connection's first value, and a pattern to find the
   * next.
   */
  readonly carry?: { readonly first: readonly string[]; readonly pattern: string }
}

export type Measured = {
  readonly requests: number
  readonly seconds: number
  readonly rate: number
  /** The next unused number for UNIQUE. */
  readonly unique: number
  /** Latencies of the watched requests in microseconds. */
  readonly watched: readonly number[]
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
export async function measure(load: Load, now: Now = () => performance.now()): Promise<Measured> {
  const begun = now()
  const rest = stayAwake()
  const end = begun + load.seconds * 1000
  const watched = load.watched === undefined ? [] : watch(load.port, load.watched, end, now)
  const [sent, taken] = await Promise.all([drive(load, end, now), watched]).finally(rest)
  const milliseconds = now() - begun
  return {
    requests: sent,
    seconds: milliseconds / 1000,
    rate: (sent * 1000) / milliseconds,
    unique: load.unique + sent,
    watched: taken,
  }
}

/**
 * Keeps the event loop busy. On a virtual machine an idle core takes up to 50 us to wake up, which would dominate the
 * measured rate with few connections. @returns a function that stops it
 */
function stayAwake(): () => void {
  let awake = true
  const turn = () => {
    if (awake) setImmediate(turn)
  }
  turn()
  return () => {
    awake = false
  }
}

async function drive(load: Load, end: number, now: Now): Promise<number> {
  const next = requestsOf(load)
  const lanes = await Promise.all(Array.from({ length: load.connections }, () => open(load.port)))
  let answered = 0
  const lane = (socket: (typeof lanes)[number], index: number) =>
    new Promise<void>((done, fail) => {
      let carried = load.carry?.first[index] ?? ''
      const connection: Connection = new Connection(socket, take, fail)
      connection.send(next(index, carried))

      function take(answer: Answer): void {
        answered++
        const refusal = refusalOf(answer)
        if (refusal) return refuse(refusal)
        if (load.carry) carried = found(answer, load.carry.pattern)
        if (now() < end) return connection.send(next(index, carried))
        connection.close()
        done()
      }

      function refuse(refusal: Error): void {
        connection.close()
        fail(refusal)
      }
    })
  await Promise.all(lanes.map(lane))
  return answered
}

/** Returns the next request with its placeholders replaced. The texts are split once, for speed. */
function requestsOf(load: Load): (connection: number, carried: string) => string {
  const pieces = load.requests.map((request) => request.split(UNIQUE))
  let turn = 0
  const turns = Array.from({ length: load.connections }, () => 0)
  const turnOf = (connection: number) => {
    if (load.turns === 'own') return connection
    if (load.turns !== 'each') return turn++
    const own = turns[connection] ?? 0
    turns[connection] = own + 1
    return own
  }
  let unique = load.unique
  return (connection, carried) => {
    const request = pieces[turnOf(connection) % pieces.length] ?? []
    const text = request.length === 1 ? (request[0] ?? '') : request.join(String(unique++).padStart(9, '0'))
    return load.carry ? text.replace(CARRIED, carried) : text
  }
}

function found(answer: Answer, pattern: string): string {
  const value = new RegExp(pattern, 'i').exec(answer.text)?.[1]
  if (value === undefined) throw new Error(`no match for ${pattern} in the response:\n${answer.text.slice(0, 2000)}`)
  return value
}
