import { Readable } from 'node:stream'
import type { Context, Middleware } from './context.ts'

/** An answered request, as logs and metrics have it: no path, no query and no header, since secrets stand there. */
export type Seen = {
  /** The endpoint's name; undefined where nothing was found at the path. */
  readonly endpoint: string | undefined
  readonly method: string
  readonly status: number
  /** From the request's head to the last of the answer that was handed to the connection. */
  readonly milliseconds: number
  /** Of the answer's body. */
  readonly bytes: number
  /** The caller's, where it has one. */
  readonly account: number | undefined
  readonly requestId: string
  /** As `traceparent` has it. */
  readonly trace?: string | undefined
  readonly address: () => string
}

/** Tells `seen` of each request when its answer was sent, or its client has gone. */
export function accessLog(seen: (request: Seen) => void): Middleware {
  return async (ctx, next) => {
    const started = performance.now()
    await next()
    const bytes = bytesOf(ctx)
    ctx.res.once('close', () =>
      seen({
        endpoint: ctx.state.endpoint?.name,
        method: ctx.method,
        status: ctx.status,
        milliseconds: performance.now() - started,
        bytes: bytes(),
        account: accountOf(ctx.state.asker),
        requestId: ctx.state.requestId,
        trace: ctx.state.trace,
        address: () => ctx.ip,
      }),
    )
  }
}

/** @returns what counts the bytes of the answer's body that were sent */
function bytesOf({ method, body, length = 0 }: Context): () => number {
  if (method === 'HEAD') return () => 0
  if (!(body instanceof Readable)) return () => length
  let bytes = 0
  body.on('data', (chunk: Buffer | string) => (bytes += Buffer.byteLength(chunk)))
  return () => bytes
}

/** The account of a caller who has one. */
const accountOf = (asker: unknown): number | undefined =>
  typeof asker === 'object' && asker !== null && 'account' in asker && typeof asker.account === 'number'
    ? asker.account
    : undefined
