import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createApp } from '../../src/http/app.ts'
import { healthResource } from '../../src/http/health.ts'
import { listen, type Listening } from '../../src/http/server.ts'
import { openLog } from '../../src/log.ts'
import { expectRaw, sendRaw } from '../api/harness/raw.ts'

const test = suite('the HTTP server')

/** Resolves the readiness that requests to /health/ready wait for. */
type Gate = { readonly entered: Promise<void>; open(): void }

const IMPATIENT = { headers: 50, request: 50, look: 20 }

async function withServer(
  run: (server: Listening & { readonly url: string }, gate: Gate) => Promise<void>,
  patience = { headers: 60_000, request: 60_000, look: 60_000 },
): Promise<void> {
  let open = () => {}
  let enter = () => {}
  const opened = new Promise<void>((done) => (open = done))
  const entered = new Promise<void>((done) => (enter = done))
  const health = healthResource(async () => {
    enter()
    await opened
    return []
  })
  const app = createApp({ resources: [health], log: openLog('silent'), trustProxy: 0 })
  const answer = app.callback()
  const half = (res: ServerResponse) => void res.writeHead(200, { 'Content-Length': 10 }).write('half')
  const server = await listen(
    () => (req, res) => void (req.url === '/half' ? half(res) : answer(req, res)),
    '127.0.0.1',
    0,
    patience,
  )
  try {
    await run({ ...server, url: `http://127.0.0.1:${server.port}` }, { entered, open })
  } finally {
    await server.stop()
  }
}

test('answers 408 to headers that do not arrive in time', () =>
  withServer(async ({ url }) => expectRaw(408, await sendRaw(url, 'GET / HTTP/1.1\r\nHost: a\r\n')), IMPATIENT))

test('refuses CONNECT with an answer like every other', () =>
  withServer(async ({ url }) => expectRaw(400, await sendRaw(url, 'CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n'))))

test('closes a refused connection that its client keeps, so that a stop does not wait for it', () =>
  withServer(async ({ port, stop }) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    socket.write('CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n')
    const [answer] = await once(socket, 'data')
    assert.match(String(answer), /^HTTP\/1\.1 400 /)
    const started = performance.now()
    await stop()
    assert.ok(performance.now() - started < 8_000, 'the stop waited for a client that never ends')
    socket.destroy()
  }))

test('does not answer within another answer', () =>
  withServer(async ({ port }, gate) => {
    const socket = connect(port, '127.0.0.1')
    let received = ''
    socket.on('data', (chunk: Buffer) => (received += chunk.toString()))
    const closed = once(socket, 'close')
    socket.write('GET /half HTTP/1.1\r\nHost: a\r\n\r\n')
    await once(socket, 'data')
    socket.write('nonsense\r\n\r\n')
    await closed
    gate.open()
    assert.match(received, /^HTTP\/1\.1 200 /)
    assert.not.match(received, / 400 /)
  }))

test('answers requests under way when it stops, and takes no new ones', () =>
  withServer(async ({ url, port, stop }, gate) => {
    const socket = connect(port, '127.0.0.1')
    socket.write('GET /health/ready HTTP/1.1\r\nHost: a\r\n\r\n')
    await gate.entered
    const stopped = stop()
    const [error] = await once(connect(port, '127.0.0.1'), 'error')
    assert.is((error as { code: string }).code, 'ECONNREFUSED')
    gate.open()
    const [answer] = await once(socket, 'data')
    assert.match(String(answer), /^HTTP\/1\.1 200 /)
    await stopped
    assert.ok(url.startsWith('http://'))
  }))

test('stops at once although clients keep their connections', () =>
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
    const started = performance.now()
    await stop()
    await ended
    assert.ok(performance.now() - started < 5_000)
  }))

test.run()
