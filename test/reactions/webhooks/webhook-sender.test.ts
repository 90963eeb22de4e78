import { once } from 'node:events'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createSecure } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as listenRaw, type AddressInfo, type Socket } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  createWebhookSender,
  type DeliveryOutcome,
  type WebhookSenderOptions,
} from '../../../src/reactions/webhooks/webhook-sender.ts'

const test = suite('a webhook message')

/** Timeouts in ms: generous where a response is expected, because the machine may be slow; short where none is. */
const PATIENT = 120_000
const SHORT = 300

const ALLOW_ALL = { http: true, private: true }
const message = { headers: { 'Content-Type': 'application/json', 'webhook-id': 'msg_1' }, body: '{"a":"ä"}' }
const failingLookup = async () => Promise.reject(new Error('no lookup is expected'))
const never = () => new AbortController().signal

type TestReceiver = { readonly port: number; readonly url: string; connections: number }

async function withReceiver(
  listen: RequestListener | ((socket: Socket) => void),
  run: (served: TestReceiver) => Promise<void>,
  raw = false,
): Promise<void> {
  const sockets = new Set<Socket>()
  const server = raw ? listenRaw(listen as (socket: Socket) => void) : createServer(listen as RequestListener)
  const receiver: TestReceiver = { port: 0, url: '', connections: 0 }
  server.on('connection', (socket: Socket) => {
    receiver.connections++
    sockets.add(socket.on('error', () => undefined))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  Object.assign(receiver, { port, url: `http://127.0.0.1:${port}/hook` })
  try {
    await run(receiver)
  } finally {
    for (const socket of sockets) socket.destroy()
    ;(server as Server).close()
    await once(server, 'close')
  }
}

const send = (url: string, options: Partial<WebhookSenderOptions> = {}, signal = never()): Promise<DeliveryOutcome> =>
  createWebhookSender({ rules: ALLOW_ALL, resolve: failingLookup, timeoutMs: PATIENT, ...options })(
    url,
    message,
    signal,
  )

test('arrives with its headers and body', () =>
  withReceiver(
    (request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const isWhole = Buffer.concat(chunks).toString() === message.body && request.method === 'POST'
        const isNamed = request.headers['webhook-id'] === 'msg_1' && request.url === '/hook?x=1'
        response.writeHead(isWhole && isNamed ? 202 : 400).end()
      })
    },
    async ({ url }) => {
      const { status, error } = await send(`${url}?x=1`)
      assert.equal({ status, error }, { status: 202, error: null })
    },
  ))

const refusals: readonly (readonly [name: string, status: number, headers: Record<string, string>])[] = [
  ['a redirect, which is not followed', 302, { Location: '/other' }],
  ['a permanent redirect', 308, { Location: '/other' }],
  ['a bad request', 400, {}],
  ['a receiver that no longer exists', 410, {}],
  ['a server error', 500, {}],
  ['not modified', 304, {}],
]
for (const [name, status, headers] of refusals) {
  test(`is not delivered if the receiver responds with ${status}: ${name}`, async () => {
    const paths: string[] = []
    await withReceiver(
      (request, response) => {
        paths.push(String(request.url))
        response.writeHead(status, headers).end(status === 304 ? undefined : 'because\u0007 of it')
      },
      async ({ url }) => {
        const outcome = await send(url)
        assert.is(outcome.status, status)
        assert.match(outcome.error ?? '', new RegExp(`^Responded with ${status}`))
        if (status >= 400) assert.match(outcome.error ?? '', /because of it$/)
      },
    )
    assert.equal(paths, ['/hook'])
  })
}

test('times out if the receiver does not respond', () =>
  withReceiver(
    () => undefined,
    async ({ url }) => {
      const times = [1_000, 1_305]
      const monotonic = () => times.shift() ?? 0
      const { status, error, ms } = await send(url, { timeoutMs: SHORT, monotonic })
      assert.is(status, null)
      assert.match(error ?? '', 'No response within 0.3 s')
      assert.is(ms, 305)
    },
    true,
  ))

test('times out if the receiver sends its response one byte at a time', () =>
  withReceiver(
    (socket: Socket) => {
      let at = 0
      const head = 'HTTP/1.1 200 OK\r\nX-Slow: '.padEnd(2_000, 'x')
      const timer = setInterval(() => socket.write(head[at++ % head.length] ?? 'x'), 5)
      socket.on('close', () => clearInterval(timer))
    },
    async ({ url }) => {
      const { status, error } = await send(url, { timeoutMs: SHORT })
      assert.is(status, null)
      assert.match(error ?? '', /No response within/)
    },
    true,
  ))

test('reads at most 1 KiB of an endless response and closes the connection', async () => {
  let closed: Promise<unknown> = Promise.resolve()
  let written = 0
  await withReceiver(
    (_request, response) => {
      closed = once(response, 'close')
      response.writeHead(500)
      const more = () => {
        let isRoom = true
        while (isRoom && written < 200_000_000) {
          written += 65_536
          isRoom = response.write(Buffer.alloc(65_536, 120))
        }
      }
      response.on('drain', more)
      more()
    },
    async ({ url }) => {
      const { status, error } = await send(url)
      assert.is(status, 500)
      assert.ok((error ?? '').length < 300)
      await closed
      assert.ok(written < 20_000_000, `${written} bytes were written to it`)
    },
  )
})

test('is delivered as soon as the status arrives, whatever body follows', () =>
  withReceiver(
    (_request, response) => void response.writeHead(200).write('and so on'),
    async ({ url }) => {
      const { status, error } = await send(url)
      assert.equal({ status, error }, { status: 200, error: null })
    },
  ))

test('is not delivered if the connection is closed, or speaks no HTTP or TLS', async () => {
  const outcomes: DeliveryOutcome[] = []
  await withReceiver(
    (socket: Socket) => socket.destroy(),
    async ({ url }) => void outcomes.push(await send(url)),
    true,
  )
  await withReceiver(
    (socket: Socket) => socket.end('nonsense\r\n\r\n'),
    async ({ url }) => void outcomes.push(await send(url)),
    true,
  )
  await withReceiver(
    (socket: Socket) => socket.destroy(),
    async ({ port }) => {
      outcomes.push(await send(`https://127.0.0.1:${port}/`))
    },
    true,
  )
  for (const { status, error } of outcomes) {
    assert.is(status, null)
    assert.type(error, 'string')
  }
})

test('can be aborted while it waits for a response', () => {
  const stop = new AbortController()
  return withReceiver(
    () => stop.abort(new Error('stopped')),
    async ({ url }) => {
      await send(url, {}, stop.signal).then(
        () => assert.unreachable('it did not stop'),
        (error: Error) => assert.is(error.message, 'stopped'),
      )
    },
    true,
  )
})

const PUBLIC_ONLY = { http: true, private: false }

const INTERNAL_ADDRESSES = [
  ['127.0.0.1'],
  ['::1'],
  ['10.0.0.7'],
  ['169.254.169.254'],
  ['100.100.100.200'],
  ['::ffff:127.0.0.1'],
  ['64:ff9b::7f00:1'],
  ['fd00::1'],
  ['0.0.0.0'],
  ['224.0.0.1'],
  ['192.168.1.1', 'fe80::1'],
]
const NOT_PUBLIC = 'rebound.example does not resolve to an address of the public internet'
for (const addresses of INTERNAL_ADDRESSES) {
  test(`is not sent to a name that resolves to ${addresses.join(' and ')}`, () =>
    withReceiver(
      (_request, response) => void response.writeHead(200).end(),
      async (receiver) => {
        const resolve = async () => addresses
        const outcome = await send(`http://rebound.example:${receiver.port}/`, { rules: PUBLIC_ONLY, resolve })
        assert.is(outcome.status, null)
        assert.is(outcome.error, NOT_PUBLIC)
        assert.is(receiver.connections, 0)
      },
    ))
}

test('fails with the same error for a name that does not resolve as for one with an internal address', async () => {
  const resolve = async () => Promise.reject(new Error('queryA ENOTFOUND rebound.example'))
  for (const lookup of [resolve, async () => []]) {
    const { status, error } = await send('http://rebound.example:8080/', { rules: PUBLIC_ONLY, resolve: lookup })
    assert.equal({ status, error }, { status: null, error: NOT_PUBLIC })
  }
})

const LOCAL_HOSTS = [
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '[::ffff:127.0.0.1]',
  '[::1]',
  'localhost',
]
for (const host of LOCAL_HOSTS) {
  test(`is not sent to ${host}`, () =>
    withReceiver(
      (_request, response) => void response.writeHead(200).end(),
      async (receiver) => {
        const resolve = async () => ['127.0.0.1']
        const outcome = await send(`http://${host}:${receiver.port}/`, { rules: PUBLIC_ONLY, resolve })
        assert.is(outcome.status, null)
        assert.is(receiver.connections, 0)
      },
    ))
}

test('is sent to the addresses that were checked, without a second lookup', () =>
  withReceiver(
    (_request, response) => void response.writeHead(200).end(),
    async (receiver) => {
      let lookups = 0
      const resolve = async () => {
        lookups++
        return ['127.0.0.1']
      }
      const outcome = await send(`http://name.example:${receiver.port}/`, { resolve })
      assert.is(outcome.status, 200)
      assert.is(lookups, 1)
      assert.is(receiver.connections, 1)
    },
  ))

const hasOpenssl = () => {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** A self-signed certificate. */
function selfSignedCertificate(): { readonly key: string; readonly cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'adamant-tls-'))
  try {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const words = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost'
    execFileSync('openssl', [...words.split(' '), '-keyout', key, '-out', cert], { stdio: 'ignore' })
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

if (hasOpenssl()) {
  test('is not sent to a receiver with an untrusted certificate', async () => {
    let requests = 0
    const server = createSecure(selfSignedCertificate(), (_request, response) => {
      requests++
      response.writeHead(200).end()
    })
    server.on('tlsClientError', (error) => assert.instance(error, Error))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const resolve = async () => ['127.0.0.1']
    const outcome = await send(`https://localhost:${port}/`, { resolve })
    server.close()
    await once(server, 'close')
    assert.is(outcome.status, null)
    assert.match(outcome.error ?? '', /SELF_SIGNED/)
    assert.is(requests, 0)
  })
}

test('times out if the name lookup hangs', async () => {
  // Keeps the process alive: the pending lookup does not.
  const alive = setInterval(() => undefined, 1_000)
  const outcome = await send('https://silent.example/', {
    timeoutMs: SHORT,
    resolve: (_name, signal) =>
      new Promise((_done, fail) => signal.addEventListener('abort', () => fail(new Error('queryA ECANCELLED')))),
  })
  clearInterval(alive)
  assert.match(outcome.error ?? '', /No response within/)
})

test('is not sent to a URL that the current rules no longer allow', async () => {
  const outcome = await send('http://example.com:8080/', { rules: { http: false, private: true } })
  assert.match(outcome.error ?? '', /must begin with https/)
})

test.run()
