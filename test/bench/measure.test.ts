import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { CARRIED, measure, UNIQUE, type Load } from '../../bench/load/measure.ts'
import { percentile } from '../../bench/load/watch.ts'
import { requestText } from '../../bench/request.ts'

type Answering = (request: IncomingMessage, response: ServerResponse, body: string) => void

const test = suite('the load generator')

async function under(answer: Answering, act: (load: (json: string) => Load) => Promise<void>): Promise<void> {
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => answer(request, response, body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  try {
    const request = (json: string) => requestText({ port }, { method: 'POST', path: '/', json })
    await act((json) => ({ port, connections: 3, seconds: 0.1, unique: 1, requests: [request(json)] }))
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

test('counts what was answered, and sends no number twice', async () => {
  const bodies: string[] = []
  await under(
    (_request, response, body) => {
      bodies.push(body)
      response.writeHead(201, { 'Content-Length': 0 }).end()
    },
    async (load) => {
      const measured = await measure(load(`{"sku":"${UNIQUE}"}`))
      assert.is(measured.requests, bodies.length)
      assert.is(new Set(bodies).size, bodies.length)
      assert.is(measured.unique, bodies.length + 1)
      assert.ok(bodies.every((body) => /^\{"sku":"\d{9}"\}$/.test(body)))
    },
  )
})

test('refuses to measure errors', async () => {
  await under(
    (_request, response) => response.writeHead(422, { 'Content-Length': 4 }).end('oh! '),
    async (load) => {
      const outcome = await measure(load('{}')).catch((error: Error) => error.message)
      assert.match(String(outcome), /not a success:\nHTTP\/1.1 422/)
    },
  )
})

test('takes an answer whole that arrives in pieces', async () => {
  await under(
    (_request, response) => {
      response.writeHead(200, { 'Content-Length': 8 })
      response.write('1234')
      setImmediate(() => response.end('5678'))
    },
    async (load) => assert.ok((await measure(load('{}'))).requests > 3),
  )
})

test('carries a part of each answer into the same connection’s next request', async () => {
  const given = new Set(['aaaaaa', 'bbbbbb', 'cccccc'])
  let next = 0
  await under(
    (_request, response, body) => {
      const known = given.delete(body)
      const token = String(next++).padStart(6, '0')
      given.add(token)
      const text = `{"token":"${token}"}`
      response.writeHead(known ? 200 : 400, { 'Content-Length': text.length }).end(text)
    },
    async (load) => {
      const requests = [`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\n${CARRIED}`]
      const carry = { first: [...given], pattern: '"token":"(\\d+)"' }
      const measured = await measure({ ...load(''), requests, carry })
      assert.ok(measured.requests > 3)
    },
  )
})

test('takes the time of a watched request beside the load, and does not count it', async () => {
  const load = ' '
  const kinds = { load: 0, watched: 0 }
  await under(
    (_request, response, body) => {
      kinds[body === load ? 'load' : 'watched']++
      const answer = () => response.writeHead(204).end()
      if (body === load) answer()
      else setTimeout(answer, 20)
    },
    async (given) => {
      const watched = { request: given('the watched one').requests[0] ?? '', pause: 1 }
      const measured = await measure({ ...given(load), watched })
      assert.is(measured.requests, kinds.load)
      assert.is(measured.watched.length, kinds.watched)
      assert.ok(measured.watched.length > 0 && measured.watched.every((us) => us > 19_000))
    },
  )
})

test('watches without any load', async () => {
  await under(
    (_request, response) => response.writeHead(204).end(),
    async (load) => {
      const watched = { request: load('{}').requests[0] ?? '', pause: 1 }
      const measured = await measure({ ...load('{}'), connections: 0, watched })
      assert.is(measured.requests, 0)
      assert.ok(measured.watched.length > 3)
    },
  )
})

test('finds a percentile, and the slowest among few', () => {
  const figures = Array.from({ length: 200 }, (_, n) => 200 - n)
  assert.is(percentile(figures, 0.99), 199)
  assert.is(percentile([7, 9, 8], 0.99), 9)
})

test.run()
