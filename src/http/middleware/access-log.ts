import { Readable } from 'node:stream'
import type { RequestContext, Middleware } from './context.ts'

/** An answered request, as logs and metrics have it: no path, no query and no header, since secrets stand there. */
export type RequestLogEntry = {
  /** The endpoint's name; undefined where nothing was found at the path. */
  readonly endpoint: string | undefined
  readonly method: string
  readonly status: number
  /** From the request's head to the last of the answer that was handed to the connection. */
  readonly durationMs: number
  /** Of the answer's body. */
  readonly responseBytes: number
  /** The caller's, where it has one. */
  readonly account: number | undefined
  readonly requestId: string
  /** As `traceparent` has it. */
  readonly trace?: string | undefined
  readonly clientAddress: () => string
}

/** Tells `seen` of each request when its answer was sent, or its client has gone. */
export function accessLog(onResponse: (request: RequestLogEntry) => void): Middleware {
  return async (ctx, next) => {
    const started = performance.now()
    await next()
    const sentBytes = countSentBytes(ctx)
    ctx.res.once('close', () =>
      onResponse({
        endpoint: ctx.state.endpoint?.operationId,
        method: ctx.method,
        status: ctx.status,
        durationMs: performance.now() - started,
        responseBytes: sentBytes(),
        account: accountOf(ctx.state.principal),
        requestId: ctx.state.requestId,
        trace: ctx.state.trace,
        clientAddress: () => ctx.ip,
      }),
    )
  }
}

/** @returns what counts the bytes of the answer's body that were sent */
function countSentBytes({ method, body, length = 0 }: RequestContext): () => number {
  if (method === 'HEAD') return () => 0
  if (!(body instanceof Readable)) return () => length
  let bytes = 0
  body.on('data', (chunk: Buffer | string) => (bytes += Buffer.byteLength(chunk)))
  return () => bytes
}

/** The account of a caller who has one. */
const accountOf = (principal: unknown): number | undefined =>
  typeof principal === 'object' && principal !== null && 'account' in principal && typeof principal.account === 'number'
    ? principal.account
    : undefined
