import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { CARRIED, measure, UNIQUE, type Load } from '../../bench/load/measure.ts'
import { percentile } from '../../bench/load/probe.ts'
import { requestText } from '../../bench/request.ts'

type Responder = (request: IncomingMessage, response: ServerResponse, body: string) => void

const test = suite('the load generator')

/** A clock that advances only with responses. */
class Clock {
  #milliseconds = 0
  readonly now = () => this.#milliseconds

  advance(milliseconds: number): void {
    this.#milliseconds += milliseconds
  }
}

/** Milliseconds of a measurement and per response, so that it has at least ten responses. */
const [MEASUREMENT_MS, RESPONSE_MS] = [100, 10]

/** @param clock of the measurement; by default one that advances by RESPONSE_MS per response */
async function withServer(
  respond: Responder,
  run: (load: (json: string) => Load, now: () => number) => Promise<void>,
  clock?: Clock,
): Promise<void> {
  const own = new Clock()
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      own.advance(RESPONSE_MS)
      respond(request, response, body)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  try {
    const request = (json: string) => requestText({ port }, { method: 'POST', path: '/', json })
    const seconds = MEASUREMENT_MS / 1000
    const load = (json: string) => ({ port, connections: 3, seconds, unique: 1, requests: [request(json)] })
    await run(load, (clock ?? own).now)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

test('counts responses, and sends no unique number twice', async () => {
  const bodies: string[] = []
  await withServer(
    (_request, response, body) => {
      bodies.push(body)
      response.writeHead(201, { 'Content-Length': 0 }).end()
    },
    async (load, now) => {
      const measured = await measure(load(`{"sku":"${UNIQUE}"}`), now)
      assert.is(measured.requests, bodies.length)
      assert.is(new Set(bodies).size, bodies.length)
      assert.is(measured.unique, bodies.length + 1)
      assert.ok(bodies.every((body) => /^\{"sku":"\d{9}"\}$/.test(body)))
    },
  )
})

test('fails on an error response', async () => {
  await withServer(
    (_request, response) => response.writeHead(422, { 'Content-Length': 4 }).end('oh! '),
    async (load, now) => {
      const outcome = await measure(load('{}'), now).catch((error: Error) => error.message)
      assert.match(String(outcome), /unsuccessful response:\nHTTP\/1.1 422/)
    },
  )
})

test('reads a response that arrives in pieces', async () => {
  await withServer(
    (_request, response) => {
      response.writeHead(200, { 'Content-Length': 8 })
      response.write('1234')
      setImmediate(() => response.end('5678'))
    },
    async (load, now) => assert.ok((await measure(load('{}'), now)).requests >= MEASUREMENT_MS / RESPONSE_MS),
  )
})

test('carries a part of each response into the next request on the same connection', async () => {
  const given = new Set(['aaaaaa', 'bbbbbb', 'cccccc'])
  let next = 0
  await withServer(
    (_request, response, body) => {
      const isCarried = given.delete(body)
      const token = String(next++).padStart(6, '0')
      given.add(token)
      const text = `{"token":"${token}"}`
      response.writeHead(isCarried ? 200 : 400, { 'Content-Length': text.length }).end(text)
    },
    async (load, now) => {
      const requests = [`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\n${CARRIED}`]
      const carry = { first: [...given], pattern: '"token":"(\\d+)"' }
      const measured = await measure({ ...load(''), requests, carry }, now)
      assert.ok(measured.requests >= MEASUREMENT_MS / RESPONSE_MS)
    },
  )
})

test('measures a watched request alongside the load without counting it', async () => {
  const clock = new Clock()
  const load = ' '
  const counts = { load: 0, watched: 0 }
  let respondToWatched: (() => void) | undefined
  await withServer(
    (_request, response, body) => {
      const respond = () => response.writeHead(204).end()
      if (body === load) {
        counts.load++
        respond()
        respondToWatched?.()
        return
      }
      counts.watched++
      // After a later request of the load, and 40 ms.
      respondToWatched = () => {
        respondToWatched = undefined
        clock.advance(40)
        respond()
      }
    },
    async (given, now) => {
      const watched = { request: given('the watched one').requests[0] ?? '', pauseMs: 1 }
      const measured = await measure({ ...given(load), probe: watched }, now)
      assert.is(measured.requests, counts.load)
      assert.is(counts.watched, 3)
      assert.equal(measured.probeLatenciesUs, [40_000, 40_000, 40_000])
    },
    clock,
  )
})

test('measures a watched request without load', async () => {
  await withServer(
    (_request, response) => response.writeHead(204).end(),
    async (load, now) => {
      const watched = { request: load('{}').requests[0] ?? '', pauseMs: 1 }
      const measured = await measure({ ...load('{}'), connections: 0, probe: watched }, now)
      assert.is(measured.requests, 0)
      assert.is(measured.probeLatenciesUs.length, MEASUREMENT_MS / RESPONSE_MS)
    },
  )
})

test('computes a percentile, which is the slowest of a few values', () => {
  const figures = Array.from({ length: 200 }, (_, n) => 200 - n)
  assert.is(percentile(figures, 0.99), 199)
  assert.is(percentile([7, 9, 8], 0.99), 9)
})

test.run()
