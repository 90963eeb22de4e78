import { constants, type Http2Server, type ServerHttp2Session } from 'node:http2'
import type { Server } from '@grpc/grpc-js'

/** The real timers, also while a test uses fake time: pings are answered in real time. */
const { setTimeout, clearTimeout } = globalThis

/** Milliseconds between two pings, and for which the server waits for the response to one. */
export type KeepAlive = { readonly intervalMs: number; readonly timeoutMs: number }

/** The defaults of 23.10.6 (KeepAliveInterval and KeepAliveTimeout). */
export const DEFAULT_KEEP_ALIVE: KeepAlive = { intervalMs: 10_000, timeoutMs: 10_000 }

/**
 * Sends keep-alive pings on every connection, and closes one whose ping stays unanswered, with the error code that
 * 23.10.6 sends: calls in progress end with `13 INTERNAL: Received RST_STREAM with code 2 ... Session closed`. gRPC's own
 * keep-alive closes connections without an error code.
 */
export function sendKeepAlives(grpc: Server, keepAlive: () => KeepAlive): void {
  const { http2Servers } = grpc as unknown as { readonly http2Servers: ReadonlyMap<Http2Server, unknown> }
  for (const server of http2Servers.keys()) server.on('session', (session) => scheduleNextPing(session, keepAlive))
}

function scheduleNextPing(session: ServerHttp2Session, keepAlive: () => KeepAlive): void {
  setTimeout(() => ping(session, keepAlive), keepAlive().intervalMs).unref()
}

function ping(session: ServerHttp2Session, keepAlive: () => KeepAlive): void {
  if (session.destroyed) return
  // A response that arrived while this process stood still is handled first.
  const timer = setTimeout(() => setImmediate(close), keepAlive().timeoutMs).unref()
  let isAnswered = false
  function close() {
    if (isAnswered || session.destroyed) return
    session.goaway(constants.NGHTTP2_INTERNAL_ERROR)
    setImmediate(() => session.destroy())
  }
  session.ping((error) => {
    isAnswered = true
    clearTimeout(timer)
    if (error === null) scheduleNextPing(session, keepAlive)
  })
}
