import { connect, type Socket } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { recordResponse } from '../../api/harness/seen-responses.ts'
import { ok } from '../../../src/http/kit/response.ts'
import { BULK_BODY_MAX_BYTES, json } from '../../../src/http/kit/json-body.ts'
import { publicAccess, endpoint } from '../../../src/http/kit/endpoint.ts'
import { platformGroup } from '../../../src/http/kit/errors.ts'
import { createApp } from '../../../src/http/app.ts'
import { listen, type ListeningServer } from '../../../src/http/kit/server.ts'
import { withFakeTime } from '../../fake-time.ts'
import { until } from '../../until.ts'

const test = suite('request bodies')

const MEMORY_BYTES = 600_000
const MIN_RATE = { bytes: 2_000, milliseconds: 300 }

/** What the server has received of all bodies so far. */
type ReceivedBodyCounts = { requests: number; bytes: number }

async function withServer(
  run: (server: ListeningServer, received: ReceivedBodyCounts) => Promise<void>,
): Promise<void> {
  const received = { requests: 0, bytes: 0 }
  const inner = json(undefined, BULK_BODY_MAX_BYTES)
  const read = endpoint({
    operationId: 'read',
    method: 'POST',
    path: '/read',
    summary: 'Reads a body.',
    auth: publicAccess,
    body: {
      ...inner,
      read(ctx, ...rest) {
        received.requests++
        const value = inner.read(ctx, ...rest)
        ctx.req.on('data', (chunk: Buffer) => (received.bytes += chunk.length))
        return value
      },
    },
    group: platformGroup,
    responses: { 200: 'It was read' },
    handler: ({ request }) => ok({ read: JSON.stringify(request.body).length }),
  })
  const bodies = { memoryBytes: MEMORY_BYTES, minTransferRate: MIN_RATE }
  const listener = createApp([read], undefined, { log: () => undefined, trustProxy: 0, bodies }).callback()
  const server = await listen(listener, { host: '127.0.0.1', port: 0 })
  try {
    await run(server, received)
  } finally {
    await server.stop()
  }
}

/** No body of this server is too slow, however busy the machine is. */
const withServerAndStoppedClock = (run: Parameters<typeof withServer>[0]) => withFakeTime(() => withServer(run))

/** Sends the headers of a request with these credentials and a body of `length` bytes. */
async function beginRequest({ port }: ListeningServer, credentials: string, length: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  await new Promise<void>((done) => socket.once('connect', done))
  socket.write(`POST /read HTTP/1.1\r\nHost: a\r\nAuthorization: ${credentials}\r\nContent-Length: ${length}\r\n\r\n`)
  return socket
}

function readResponse(socket: Socket): Promise<string> {
  return new Promise((done) => {
    let text = ''
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (!text.includes('\r\n\r\n')) return
      done(text)
      socket.destroy()
    })
    socket.on('close', () => done(text))
  })
}

const text = (length: number) => `"${'x'.repeat(length - 2)}"`

async function sendBody(server: ListeningServer, credentials: string, length: number): Promise<string> {
  const socket = await beginRequest(server, credentials, length)
  const response = readResponse(socket)
  socket.write(text(length))
  return response
}

test('that arrive too slowly get 408, and those that are fast enough are read', () =>
  withFakeTime((time) =>
    withServer(async (server, received) => {
      const slow = await beginRequest(server, 'slow', 100_000)
      const steady = await beginRequest(server, 'steady', 10_000)
      const responses = [readResponse(slow), readResponse(steady)]
      await until('both requests', () => received.requests === 2)
      const whole = text(10_000)
      for (let at = 0; at < whole.length; at += 1_000) {
        const before = received.bytes
        // The slow request is rejected after three steps.
        if (at < 3_000) slow.write('.')
        steady.write(whole.slice(at, at + 1_000))
        await until('the sent bytes to arrive', () => received.bytes === before + 1_000 + Number(at < 3_000))
        await time.advance(MIN_RATE.milliseconds / 3)
      }
      const [slowResponse, steadyResponse] = await Promise.all(responses)
      assert.match(slowResponse ?? '', /^HTTP\/1\.1 408 [^]*"Received less than 2 KiB of the body within 0.3 s"/)
      assert.match(steadyResponse ?? '', /^HTTP\/1\.1 200 /)
      recordResponse('any body', 408)
    }),
  ))

test('over the memory limit get 503 with Retry-After, and other clients still get memory', () =>
  withServerAndStoppedClock(async (server, received) => {
    const sockets = await Promise.all(Array.from({ length: 6 }, () => beginRequest(server, 'crowd', 190_000)))
    await until('six requests', () => received.requests === 6)
    const [held, ...others] = sockets
    held?.write(text(150_000).slice(0, -1))
    await until('most of the first body', () => received.bytes === 149_999)
    for (const socket of others) {
      const response = readResponse(socket)
      socket.write(text(150_000).slice(0, -1))
      assert.match(await response, /^HTTP\/1\.1 503 /)
    }
    assert.match(await sendBody(server, 'crowd', 190_000), /^HTTP\/1\.1 503 [^]*\r\nRetry-After: 2\r\n/)
    for (let nth = 0; nth < 3; nth++) assert.match(await sendBody(server, `other ${nth}`, 20_000), /^HTTP\/1\.1 200 /)
    held?.destroy()
  }))

test('release their memory after the response and when the client disconnects', () =>
  withServerAndStoppedClock(async (server, received) => {
    for (let round = 0; round < 3; round++) {
      const disconnecting = await beginRequest(server, 'one', 150_000)
      const before = received.bytes
      disconnecting.write(text(150_000).slice(0, -1))
      await until('most of the body', () => received.bytes === before + 149_999)
      assert.match(await sendBody(server, 'one', 150_000), /^HTTP\/1\.1 503 /)
      disconnecting.resetAndDestroy()
      const isAccepted = async () => (await sendBody(server, 'one', 150_000)).startsWith('HTTP/1.1 200 ')
      await until('the memory to be released', isAccepted)
    }
  }))

test.run()
