import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Refusal } from '../../domain/refusal.ts'
import { VERSION } from '../../runtime/version.ts'
import { CrossOrigin, type Origins } from './cross-origin.ts'
import { RefusedWith } from './errors.ts'
import { traceOf } from './trace-context.ts'

/** What is found of every request where it comes in, before anything is known of what it asks for. */
export type Arrival = {
  /** The caller's own, or one that was made; the correlation id of the events. */
  readonly requestId: string
  /** The trace that it is a part of, where its caller said so. */
  readonly trace: string | undefined
  /** Names and values of the headers that its answer has whatever it is, one after another. */
  readonly headers: readonly string[]
  /** The path, plain and still encoded. */
  readonly path: string
  /** The query as it came, without its question mark. */
  readonly search: string
  /** Why it is no request that may be answered. */
  readonly fault: unknown
}

/** What is set up for all answers of one installation. */
export type ArrivalOptions = {
  /** Whether clients are told to come by https only: where the public address says so. */
  readonly https: boolean
  readonly origins: Origins
}

/** Seconds that a browser remembers to come by https: a year. Other names of the domain are not ours to speak for. */
const HTTPS_LIFE = 31_536_000

/** Headers of every answer there is, of those to what is no HTTP too; names and values one after another. */
export const fixedHeaders = (https: boolean): readonly string[] => [
  'X-App-Version',
  VERSION,
  'X-Content-Type-Options',
  'nosniff',
  ...(https ? ['Strict-Transport-Security', `max-age=${HTTPS_LIFE}`] : []),
]

/** @returns what finds it; it never throws */
export function arrivals({ https, origins }: ArrivalOptions): (req: IncomingMessage) => Arrival {
  const fixed = fixedHeaders(https)
  const crossOrigin = new CrossOrigin(origins)
  return (req) => {
    const target = plainTarget(req.url ?? '')
    const query = target.indexOf('?')
    const path = query < 0 ? target : target.slice(0, query)
    const cors = crossOrigin.headersFor(req, path)
    return {
      requestId: requestIdOf(req),
      trace: traceOf(req.headers['traceparent']),
      headers: cors.length === 0 ? fixed : [...fixed, ...cors],
      path,
      search: query < 0 ? '' : target.slice(query + 1),
      fault: faultOf(req, path),
    }
  }
}

/** Printable ASCII, blanks inside too: what tracing systems put into the header. */
const KEPT = /^[\x20-\x7e]{1,128}$/

/** The id that the caller gave its request, or a new one where it gave none, two, or one that is no such text. */
function requestIdOf(req: IncomingMessage): string {
  const given = req.headers['x-request-id']
  if (typeof given !== 'string' || !KEPT.test(given)) return randomUUID()
  // Two of them arrive as one text with a comma, which one of them may have as well; to tell them apart costs as much as
  // an answer does.
  const isOne = !given.includes(',') || req.headersDistinct['x-request-id']?.length === 1
  return isOne ? given : randomUUID()
}

/**
 * A request target whose path has doubled slashes as one, and none at its end, and nothing before or behind it that names
 * no thing here: `//v4/diamond/?x` → `/v4/diamond?x`. Routes, keys and links then know one name for one thing. What
 * stands behind the `?` is left alone.
 */
function plainTarget(target: string): string {
  const given = isPlain(target) ? target : bare(target)
  if (!given.startsWith('/')) return given
  const query = given.indexOf('?')
  const path = query < 0 ? given : given.slice(0, query)
  if (!path.includes('//') && !(path.length > 1 && path.endsWith('/'))) return given
  const plain = path.replaceAll(/\/{2,}/g, '/')
  const whole = plain.length > 1 && plain.endsWith('/') ? plain.slice(0, -1) : plain
  return whole + (query < 0 ? '' : given.slice(query))
}

const isPlain = (target: string) => target.startsWith('/') && !target.includes('#')

function bare(target: string): string {
  const path = AUTHORITY.test(target) && URL.canParse(target) ? target.replace(AUTHORITY, '') || '/' : target
  return path.replace(FRAGMENT, '')
}

/** A proxy may write a target with its host before the path (RFC 9112, 3.2.2). */
const AUTHORITY = /^https?:\/\/[^/?#]*/i
const FRAGMENT = /#.*$/s

/**
 * Characters of all headers together. The parser lets a request's line and headers share 272 KiB, since a secret may
 * stand in the line; what reads headers need not be made for lists of a hundred thousand tags or addresses.
 */
const HEADERS_MAX = 32 * 1024

/** What HTTP forbids and its parser lets pass (RFC 9112, 3.2): too many headers, no Host, or two, or no address. */
function faultOf({ headers, rawHeaders, httpVersionMinor, method }: IncomingMessage, path: string): unknown {
  let length = 0
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    length += name.length + (rawHeaders[at + 1]?.length ?? 0)
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  if (length > HEADERS_MAX) {
    const refusal = new Refusal('too-long', `The headers may have at most ${HEADERS_MAX} characters`)
    return new RefusedWith({ Connection: 'close' }, refusal)
  }
  if (hosts > 1) return new Refusal('malformed', `The request has ${hosts} Host headers`)
  if (headers.host === undefined && httpVersionMinor > 0)
    return new Refusal('malformed', 'The request has no Host header')
  if (path.startsWith('/') || (path === '*' && method === 'OPTIONS')) return undefined
  return new Refusal('malformed', 'The request target is no address')
}
