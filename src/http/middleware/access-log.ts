import { Readable } from 'node:stream'
import type { RequestContext, Middleware } from './context.ts'

/** A finished request for logs and metrics. Has no path, query or headers, because they may contain secrets. */
export type RequestLogEntry = {
  /** The operation id; undefined if no endpoint matched. */
  readonly endpoint: string | undefined
  readonly method: string
  readonly status: number
  /** From the request head until the last byte of the response was handed to the connection. */
  readonly durationMs: number
  readonly responseBytes: number
  /** The account of the principal, if any. */
  readonly account: number | undefined
  readonly requestId: string
  /** The trace context, in the form of `traceparent`. */
  readonly trace?: string | undefined
  readonly clientAddress: () => string
}

/** Calls `onResponse` for each request once its response was sent or its client disconnected. */
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

/** @returns reads the number of body bytes sent so far */
function countSentBytes({ method, body, length = 0 }: RequestContext): () => number {
  if (method === 'HEAD') return () => 0
  if (!(body instanceof Readable)) return () => length
  let bytes = 0
  body.on('data', (chunk: Buffer | string) => (bytes += Buffer.byteLength(chunk)))
  return () => bytes
}

const accountOf = (principal: unknown): number | undefined =>
  typeof principal === 'object' && principal !== null && 'account' in principal && typeof principal.account === 'number'
    ? principal.account
    : undefined
