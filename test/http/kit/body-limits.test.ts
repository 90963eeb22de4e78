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
type ReceivedBodies = { begun: number; bytes: number }

async function withServer(run: (server: ListeningServer, arrived: ReceivedBodies) => Promise<void>): Promise<void> {
  const arrived = { begun: 0, bytes: 0 }
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
        arrived.begun++
        const value = inner.read(ctx, ...rest)
        ctx.req.on('data', (chunk: Buffer) => (arrived.bytes += chunk.length))
        return value
      },
    },
    group: platformGroup,
    responses: { 200: 'It was read' },
    handler: ({ body }) => ok({ read: JSON.stringify(body).length }),
  })
  const bodies = { memoryBytes: MEMORY_BYTES, minTransferRate: MIN_RATE }
  const listener = createApp([read], undefined, { log: () => undefined, trustProxy: 0, bodies }).callback()
  const server = await listen(() => listener, '127.0.0.1', 0)
  try {
    await run(server, arrived)
  } finally {
    await server.stop()
  }
}

/** Sends the headers of a request with these credentials and a body of `length` bytes. */
async function begin({ port }: ListeningServer, who: string, length: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  await new Promise<void>((done) => socket.once('connect', done))
  socket.write(`POST /read HTTP/1.1\r\nHost: a\r\nAuthorization: ${who}\r\nContent-Length: ${length}\r\n\r\n`)
  return socket
}

function answerOf(socket: Socket): Promise<string> {
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

async function sendBody(server: ListeningServer, who: string, length: number): Promise<string> {
  const socket = await begin(server, who, length)
  const answer = answerOf(socket)
  socket.write(text(length))
  return answer
}

test('that arrive too slowly get 408, and those that are fast enough are read', () =>
  withFakeTime((time) =>
    withServer(async (server, arrived) => {
      const slow = await begin(server, 'slow', 100_000)
      const steady = await begin(server, 'steady', 10_000)
      const answers = [answerOf(slow), answerOf(steady)]
      await until('both requests', () => arrived.begun === 2)
      const whole = text(10_000)
      for (let at = 0; at < whole.length; at += 1_000) {
        const before = arrived.bytes
        // The slow request is rejected after three steps.
        if (at < 3_000) slow.write('.')
        steady.write(whole.slice(at, at + 1_000))
        await until('the sent bytes to arrive', () => arrived.bytes === before + 1_000 + Number(at < 3_000))
        await time.pass(MIN_RATE.milliseconds / 3)
      }
      const [late, read] = await Promise.all(answers)
      assert.match(late ?? '', /^HTTP\/1\.1 408 [^]*"Received less than 2 KiB of the body within 0.3 s"/)
      assert.match(read ?? '', /^HTTP\/1\.1 200 /)
      recordResponse('any body', 408)
    }),
  ))

test('over the memory limit get 503 with Retry-After, and other clients still get memory', () =>
  withServer(async (server, arrived) => {
    const crowd = await Promise.all(Array.from({ length: 6 }, () => begin(server, 'crowd', 190_000)))
    await until('six requests', () => arrived.begun === 6)
    const [held, ...others] = crowd
    held?.write(text(150_000).slice(0, -1))
    await until('most of the first body', () => arrived.bytes === 149_999)
    for (const socket of others) {
      const answer = answerOf(socket)
      socket.write(text(150_000).slice(0, -1))
      assert.match(await answer, /^HTTP\/1\.1 503 /)
    }
    assert.match(await sendBody(server, 'crowd', 190_000), /^HTTP\/1\.1 503 [^]*\r\nRetry-After: 2\r\n/)
    for (let nth = 0; nth < 3; nth++) assert.match(await sendBody(server, `other ${nth}`, 20_000), /^HTTP\/1\.1 200 /)
    held?.destroy()
  }))

test('release their memory after the response and when the client disconnects', () =>
  withServer(async (server, arrived) => {
    for (let round = 0; round < 3; round++) {
      const gone = await begin(server, 'one', 150_000)
      const before = arrived.bytes
      gone.write(text(150_000).slice(0, -1))
      await until('most of the body', () => arrived.bytes === before + 149_999)
      assert.match(await sendBody(server, 'one', 150_000), /^HTTP\/1\.1 503 /)
      gone.resetAndDestroy()
      const isTaken = async () => (await sendBody(server, 'one', 150_000)).startsWith('HTTP/1.1 200 ')
      await until('the memory to be released', isTaken)
    }
  }))

test.run()
