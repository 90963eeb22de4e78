import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readinessCheck } from '../../../src/http/health/health.ts'
import { createApp } from '../../../src/http/app.ts'
import { CONNECTION_LIMITS, listen, type ListeningServer, type ServerTimeouts } from '../../../src/http/kit/server.ts'
import { expectRaw, sendRaw } from '../../api/harness/raw.ts'
import { waitFor, until } from '../../until.ts'

const test = suite('the HTTP server')

/** `open` completes the readiness check that requests to /health/ready wait for. */
type Gate = { readonly entered: Promise<void>; open(): void }

/** Milliseconds that none of these tests reaches. */
const NEVER = 3_600_000
const NO_TIMEOUTS: ServerTimeouts = {
  headersMs: NEVER,
  requestMs: NEVER,
  checkIntervalMs: NEVER,
  lingerMs: NEVER,
  drainMs: NEVER,
}

async function withServer(
  run: (server: ListeningServer & { readonly url: string }, gate: Gate) => Promise<void>,
  timeouts: Partial<ServerTimeouts> = {},
): Promise<void> {
  let open = () => {}
  let enter = () => {}
  const opened = new Promise<void>((done) => (open = done))
  const entered = new Promise<void>((done) => (enter = done))
  const waiting = async () => {
    enter()
    await opened
    return []
  }
  const response = createApp(
    [readinessCheck],
    { health: { notReadyReasons: waiting } },
    { log: () => {}, trustProxy: 0 },
  ).callback()
  const half = (res: ServerResponse) => void res.writeHead(200, { 'Content-Length': 10 }).write('half')
  const server = await listen((req, res) => void (req.url === '/half' ? half(res) : response(req, res)), {
    host: '127.0.0.1',
    port: 0,
    timeouts: { ...NO_TIMEOUTS, ...timeouts },
  })
  try {
    await run({ ...server, url: `http://127.0.0.1:${server.port}` }, { entered, open })
  } finally {
    await server.stop()
  }
}

test('answers 408 to headers that do not arrive in time', () =>
  withServer(async ({ url }) => expectRaw(408, await sendRaw(url, 'GET / HTTP/1.1\r\nHost: a\r\n')), {
    headersMs: 50,
    requestMs: 50,
    checkIntervalMs: 20,
  }))

test('answers CONNECT with a regular error response', () =>
  withServer(async ({ url }) => expectRaw(400, await sendRaw(url, 'CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n'))))

test('closes a rejected connection that its client keeps open, so that it does not delay a stop', () =>
  withServer(
    async ({ port, stop }) => {
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
      socket.write('CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n')
      const [response] = await once(socket, 'data')
      assert.match(String(response), /^HTTP\/1\.1 400 /)
      await waitFor('the stop despite a client that never closes', stop())
      socket.destroy()
    },
    { lingerMs: 50 },
  ))

test('does not send a response inside another response', () =>
  withServer(async ({ port }, gate) => {
    const socket = connect(port, '127.0.0.1')
    let received = ''
    socket.on('data', (chunk: Buffer) => (received += chunk.toString()))
    const closed = once(socket, 'close')
    socket.write('POST /half HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n')
    await once(socket, 'data')
    socket.write('nonsense\r\n\r\n')
    await closed
    gate.open()
    assert.match(received, /^HTTP\/1\.1 200 /)
    assert.not.match(received, / 400 /)
  }))

test('closes connections over the limit, but leaves room for other addresses', async () => {
  let refused = 0
  const limits = { ...CONNECTION_LIMITS, maxConnections: 20, onRefused: () => refused++ }
  const server = await listen((_req, res) => void res.end('served'), { host: '127.0.0.1', port: 0, limits })
  const opened = (localAddress: string) =>
    new Promise<Socket | undefined>((done) => {
      const socket = connect({ port: server.port, host: '127.0.0.1', localAddress })
      socket.on('error', () => done(undefined)).on('close', () => done(undefined))
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
      socket.once('data', () => done(socket))
    })
  const manyFrom = async (localAddress: string) => {
    const sockets: Socket[] = []
    for (let nth = 0; nth < 15; nth++) sockets.push(...[(await opened(localAddress)) ?? []].flat())
    return sockets
  }
  try {
    const crowd = await manyFrom('127.0.0.1')
    assert.is(crowd.length, 10)
    assert.is(refused, 5)
    // Only Linux has all of 127.0.0.0/8 without configuration.
    if (process.platform === 'linux') {
      const others = await manyFrom('127.0.0.2')
      assert.is(others.length, 5)
      for (const socket of others) socket.destroy()
    }
    const [first] = crowd
    const gone = first && once(first, 'close')
    first?.destroy()
    await gone
    let again: Socket | undefined
    await until('the slot of the closed connection', async () => (again = await opened('127.0.0.1')) !== undefined)
    for (const socket of [again, ...crowd]) socket?.destroy()
  } finally {
    await server.stop()
  }
})

test('completes requests in progress when it stops, and accepts no new ones', () =>
  withServer(async ({ url, port, stop }, gate) => {
    const socket = connect(port, '127.0.0.1')
    socket.write('GET /health/ready HTTP/1.1\r\nHost: a\r\n\r\n')
    await gate.entered
    const stopped = stop()
    const [error] = await once(connect(port, '127.0.0.1'), 'error')
    assert.is((error as { code: string }).code, 'ECONNREFUSED')
    gate.open()
    const [response] = await once(socket, 'data')
    assert.match(String(response), /^HTTP\/1\.1 200 /)
    await stopped
    assert.ok(url.startsWith('http://'))
  }))

test('stops at once although clients keep connections open', () =>
  withServer(async ({ port, stop }) => {
    const sockets = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const socket = connect(port, '127.0.0.1')
        socket.write('GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n')
        await once(socket, 'data')
        return socket
      }),
    )
    const ended = Promise.all(sockets.map((socket) => once(socket, 'end')))
    await waitFor('the stop', stop())
    await ended
  }))

test.run()
