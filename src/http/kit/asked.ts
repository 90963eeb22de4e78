import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** What every way to an answer needs of a request, and is found once, where it comes in. */
export type Asked = {
  /** The caller's own, or one that was made; the correlation id of the events. */
  readonly requestId: string
  /** Names and values of the headers that its answer has whatever it is, one after another. */
  readonly headers: readonly string[]
  /** The request's Accept-Encoding. */
  readonly accepts: string | undefined
}

/** Printable ASCII, blanks inside too: what tracing systems put into the header. */
const KEPT = /^[\x20-\x7e]{1,128}$/

/** The id that the caller gave its request, or a new one where it gave none, two, or one that is no such text. */
export function requestIdOf(req: IncomingMessage): string {
  const given = req.headers['x-request-id']
  if (typeof given !== 'string' || !KEPT.test(given)) return randomUUID()
  // Two of them arrive as one text with a comma, which one of them may have as well; to tell them apart costs as much as
  // an answer does.
  const isOne = !given.includes(',') || req.headersDistinct['x-request-id']?.length === 1
  return isOne ? given : randomUUID()
}

const ASKED = Symbol('what is known of a request')

/** On the request itself: a WeakMap of all requests costs the collector more than all else here. */
type Carrying = IncomingMessage & { [ASKED]?: Asked }

/** Leaves for the routes what was found where the request came in. */
export function keepAsked(req: Carrying, found: Asked): void {
  req[ASKED] = found
}

/** What `keepAsked` left; undefined where nothing stands before the routes. */
export const keptAsked = (req: Carrying): Asked | undefined => req[ASKED]
