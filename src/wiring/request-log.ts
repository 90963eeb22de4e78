import { traceIdOf } from '../events/trace.ts'
import type { Seen } from '../http/middleware/access-log.ts'
import type { LateLine } from '../runtime/log.ts'
import type { Installation } from './installation.ts'

/**
 * One line a request, at `info`: which endpoint, by whom, how it went. Never a path, a query or a header, which may hold a
 * secret or a signature; addresses where LOG_ADDRESSES says so.
 */
export function requestLog({ log, settings }: Pick<Installation, 'log' | 'settings'>): (seen: Seen) => void {
  const { request } = log
  const { LOG_ADDRESSES } = settings
  if (request === undefined) return () => undefined
  return (seen) => request(new RequestLine(seen, LOG_ADDRESSES ? seen.address() : undefined))
}

/** What the line of a request says, and no more: the request itself is not kept for it. */
class RequestLine implements LateLine {
  readonly at = Date.now()
  readonly #endpoint: string | undefined
  readonly #method: string
  readonly #status: number
  readonly #milliseconds: number
  readonly #bytes: number
  readonly #account: number | undefined
  readonly #requestId: string
  readonly #trace: string | undefined

  constructor(
    { endpoint, method, status, milliseconds, bytes, account, requestId, trace }: Seen,
    private readonly address: string | undefined,
  ) {
    this.#endpoint = endpoint
    this.#method = method
    this.#status = status
    this.#milliseconds = milliseconds
    this.#bytes = bytes
    this.#account = account
    this.#requestId = requestId
    this.#trace = trace
  }

  /** Names of endpoints and methods are ours or the parser's; what a caller chose is quoted. */
  members(): string {
    const traced = this.#trace === undefined ? '' : `,"trace":"${traceIdOf(this.#trace)}"`
    const endpoint = this.#endpoint === undefined ? 'null' : `"${this.#endpoint}"`
    const asked = `${traced},"method":"${this.#method}","endpoint":${endpoint}`
    const took = `,"status":${this.#status},"ms":${Math.round(this.#milliseconds * 100) / 100},"bytes":${this.#bytes}`
    const by = this.#account === undefined ? '' : `,"account":${this.#account}`
    const from = this.address === undefined ? '' : `,"address":${JSON.stringify(this.address)}`
    return `,"request":${JSON.stringify(this.#requestId)}${asked}${took}${by}${from}`
  }
}
