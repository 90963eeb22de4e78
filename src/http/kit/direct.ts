import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Asked } from './asked.ts'
import type { Bearer } from './authenticate.ts'
import { refusedOf, type Refused, type LogError } from './errors.ts'
import { encodingFor, mayBePacked, pack } from './packing.ts'

/**
 * Answers a plain request without the framework, which costs more than most answers do, or leaves it untouched and says
 * false. The rules stay those of the routes: what a direct way does not know for certain it leaves to them.
 */
export type Direct = (req: IncomingMessage, res: ServerResponse, asked: Asked) => boolean

/** Headers by name, and a finished body where the status has one. */
export type DirectAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** The account whose good access token came with the request; undefined for all else, whatever is wrong with it. */
export function accountOf(req: IncomingMessage, { tokens, feed }: Bearer): number | undefined {
  const { authorization } = req.headers
  if (authorization?.startsWith('Bearer ') !== true) return undefined
  try {
    const claims = tokens.verify(authorization.slice(7))
    return typeof claims !== 'string' && atOnce(feed.isLive(claims)) === true ? claims.account : undefined
  } catch {
    return undefined
  }
}

/** Undefined for what comes later; that it then fails is told by the route, which asks again. */
export function atOnce<Value>(value: Value | Promise<Value>): Value | undefined {
  if (!(value instanceof Promise)) return value
  // The route asks again, and tells what it finds.
  value.catch(() => undefined)
  return undefined
}

/** What an error is answered with, as `answerErrors` does it for routes. @param bodyOf writes the family's error body */
export function failed(
  error: unknown,
  requestId: string,
  log: LogError,
  bodyOf: (answer: Refused) => object,
): DirectAnswer {
  const answer = refusedOf(error)
  const { status, retryAfter } = answer
  if (status >= 500) log(error, requestId, status)
  const headers = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }
  return { status, headers, body: JSON.stringify(bodyOf(answer)) }
}

/** With the headers that every answer has; packed where the client asked for it. */
export function send(res: ServerResponse, answer: DirectAnswer, { requestId, headers, accepts }: Asked): void {
  const { status, body } = answer
  const lines = ['X-Request-Id', requestId, ...headers]
  for (const name in answer.headers) lines.push(name, answer.headers[name] ?? '')
  if (body === undefined) {
    res.writeHead(status, lines).end()
    return
  }
  lines.push('Content-Type', 'application/json; charset=utf-8')
  const size = Buffer.byteLength(body)
  const packable = mayBePacked(size, answer.headers['Cache-Control'], 'application/json')
  if (packable) lines.push('Vary', 'Accept-Encoding')
  const encoding = packable ? encodingFor(accepts) : undefined
  if (encoding === undefined) {
    res.writeHead(status, [...lines, 'Content-Length', String(size)]).end(body)
    return
  }
  pack(encoding, body).then(
    (bytes) =>
      res
        .writeHead(status, [...lines, 'Content-Encoding', encoding, 'Content-Length', String(bytes.length)])
        .end(bytes),
    // Without memory for packing there may be some for what is there already.
    () => res.writeHead(status, [...lines, 'Content-Length', String(size)]).end(body),
  )
}
