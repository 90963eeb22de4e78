import { Connection, open, refusalOf, type Answer } from './connection.ts'
import { watch, type Watched } from './watch.ts'

/** What is sent, and for how long. It crosses a process boundary: plain data only. */
export type Load = {
  readonly port: number
  readonly connections: number
  readonly seconds: number
  /** Ready HTTP/1.1 requests. UNIQUE becomes a number of nine digits, CARRIED what `carry` says. */
  readonly requests: readonly string[]
  /**
   * `shared`, the default: connections take the requests in turn. `own`: each sends one of them, always the same.
   * `each`: every connection sends all of them, one after another.
   */
  readonly turns?: 'shared' | 'own' | 'each'
  /** Where UNIQUE starts, so that no two measurements send the same. */
  readonly unique: number
  /** Sent beside the load, by the same process: one of its own would wait for this one, which never sleeps. */
  readonly watched?: Watched
  /** For requests that need a part of the answer before: the first value of each connection, and how to find the next. */
  readonly carry?: { readonly first: readonly string[]; readonly pattern: string }
}

export type Measured = {
  readonly requests: number
  readonly seconds: number
  /** Requests a second. */
  readonly rate: number
  /** The next number that UNIQUE may become. */
  readonly unique: number
  /** Microseconds that each watched request took. */
  readonly watched: readonly number[]
}

/** Stands for a number that no other request has. */
export const UNIQUE = '{unique}'
/** Stands for what was found in the connection's answer before. */
export const CARRIED = '{carried}'

/** Milliseconds, from anywhere. */
export type Now = () => number

/**
 * Keeps every connection busy with one request at a time until the time is over.
 * @throws when any answer is not a 2xx
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
 * Keeps the event loop turning: on a virtual machine a core that slept takes up to 50 us to wake, and with a few connections
 * every server's rate would be that of the waking. @returns what ends it
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

/** The requests in turn, with their gaps filled. Split once, so that filling costs no search. */
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
  if (value === undefined) throw new Error(`no ${pattern} in the answer:\n${answer.text.slice(0, 2000)}`)
  return value
}
