import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { VERSION } from '../version.ts'
import type { Bearer } from './authenticate.ts'
import { answerOf, type Answer, type LogError } from './errors.ts'

/**
 * Answers a plain request without the framework, which costs more than most answers do, or leaves it untouched and says
 * false. The rules stay those of the routes: what a direct way does not know for certain it leaves to them.
 */
export type Direct = (req: IncomingMessage, res: ServerResponse) => boolean

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
  value.catch(() => undefined)
  return undefined
}

/** What an error is answered with, as `answerErrors` does it for routes. @param bodyOf writes the family's error body */
export function failed(
  error: unknown,
  requestId: string,
  log: LogError,
  bodyOf: (answer: Answer) => object,
): DirectAnswer {
  const answer = answerOf(error)
  const { status, retryAfter } = answer
  if (status >= 500) log(error, requestId, status)
  const headers = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }
  return { status, headers, body: JSON.stringify(bodyOf(answer)) }
}

/** With the headers that every answer has. */
export function send(
  res: ServerResponse,
  { status, headers, body }: DirectAnswer,
  requestId: string = randomUUID(),
): void {
  const lines = ['X-App-Version', VERSION, 'X-Request-Id', requestId]
  for (const name in headers) lines.push(name, headers[name] ?? '')
  if (body !== undefined) {
    lines.push('Content-Type', 'application/json; charset=utf-8', 'Content-Length', String(Buffer.byteLength(body)))
  }
  res.writeHead(status, lines).end(body)
}
