import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { BULK_BODY_MAX_BYTES } from '../../src/http/kit/json-body.ts'
import { DEFAULT_BODY_MAX_BYTES } from '../../src/http/kit/read-body.ts'

/** The target of the attacks and the attackers' own credentials. Sent to another process: plain data only. */
export type AttackOptions = {
  readonly port: number
  readonly seconds: number
  /** Source address of the attacks; differs from the normal client's if the machine allows it. */
  readonly localAddress: string
  readonly token: string
  readonly basic: string
  readonly client: { readonly client_id: string; readonly client_secret: string }
  /** The account whose password is guessed. */
  readonly victim: string
}

/** One kind of attack, repeated by `concurrency` attackers concurrently. */
export type Attack = {
  readonly name: string
  readonly concurrency: number
  /** Milliseconds between two attacks. */
  readonly pauseMs: number
  readonly run: (options: AttackOptions) => Promise<unknown>
}

const MIB = 1024 * 1024
const BOUNDARY = '----attack'

const requestHead = (method: string, path: string, headers: Readonly<Record<string, string>>) =>
  `${method} ${path} HTTP/1.1\r\n${Object.entries({ Host: 'a', ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`

/** Opens a connection, uses it, and destroys it. */
async function withSocket(
  { port, localAddress }: AttackOptions,
  use: (socket: Socket) => Promise<unknown>,
): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  socket.on('error', () => undefined)
  const closed = new Promise<void>((done) => socket.once('close', () => done()))
  await Promise.race([new Promise<void>((done) => socket.once('connect', done)), closed])
  await use(socket)
  socket.destroy()
}

/** Waits for the first bytes of a response, or the end of the connection. */
const waitForResponse = (socket: Socket) =>
  new Promise<void>((done) => void socket.once('data', () => done()).once('close', () => done()))

/** Sends one byte per interval until there is a response. */
async function sendSlowly(socket: Socket, intervalMs: number): Promise<void> {
  const response = { hasArrived: false }
  socket.once('data', () => (response.hasArrived = true))
  while (!response.hasArrived && !socket.destroyed) {
    socket.write('.')
    await pause(intervalMs)
  }
}

const post = (options: AttackOptions, path: string, body: string, headers: Readonly<Record<string, string>>) =>
  withSocket(options, (socket) => {
    const length = String(Buffer.byteLength(body))
    socket.write(requestHead('POST', path, { 'Content-Length': length, Connection: 'close', ...headers }) + body)
    return waitForResponse(socket)
  })

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' }
const JSON_TYPE = { 'Content-Type': 'application/json' }
const basicAuth = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
/** As long as the body limit allows; a longer one would be rejected by its Content-Length. */
const TINY_PARAMETERS = 'a&'.repeat(DEFAULT_BODY_MAX_BYTES / 2)
let guesses = 0

function guessPassword(options: AttackOptions, username: string): Promise<void> {
  const grant = { grant_type: 'password', username, password: `wrong ${guesses++}`, ...options.client }
  return post(options, '/api/oauth/v2/token', new URLSearchParams(grant).toString(), FORM)
}

async function slowBody(options: AttackOptions, socket: Socket): Promise<void> {
  const headers = {
    ...JSON_TYPE,
    Authorization: `Bearer ${options.token}`,
    'Content-Length': String(BULK_BODY_MAX_BYTES),
  }
  socket.write(requestHead('POST', '/v4/diamond/bulk', headers))
  socket.write('"'.padEnd(256 * 1024, 'x'))
  await sendSlowly(socket, 200)
}

async function slowUpload(options: AttackOptions, socket: Socket): Promise<void> {
  const type = `multipart/form-data; boundary=${BOUNDARY}`
  const headers = { 'Content-Type': type, Authorization: `Bearer ${options.token}`, 'Content-Length': String(9 * MIB) }
  socket.write(requestHead('POST', '/v4/certification', headers))
  socket.write(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n%PDF-1.7\n`)
  await sendSlowly(socket, 50)
}

async function sendAndReset(socket: Socket, text: string): Promise<void> {
  socket.write(text)
  await pause(2)
  socket.resetAndDestroy()
}

export const ATTACKS: readonly Attack[] = [
  {
    name: 'slow bodies',
    concurrency: 40,
    pauseMs: 100,
    run: (options) => withSocket(options, (socket) => slowBody(options, socket)),
  },
  {
    name: 'trickling uploads',
    concurrency: 16,
    pauseMs: 100,
    run: (options) => withSocket(options, (socket) => slowUpload(options, socket)),
  },
  {
    name: 'slow headers',
    concurrency: 40,
    pauseMs: 100,
    run: (options) =>
      withSocket(options, async (socket) => {
        socket.write('GET / HTTP/1.1\r\nHost: a\r\nX: ')
        await sendSlowly(socket, 500)
      }),
  },
  { name: 'wrong passwords', concurrency: 3, pauseMs: 50, run: (options) => guessPassword(options, options.victim) },
  {
    name: 'wrong passwords of others',
    concurrency: 3,
    pauseMs: 50,
    run: (options) => guessPassword(options, `user${guesses}@example.com`),
  },
  {
    name: 'wrong API tokens',
    concurrency: 3,
    pauseMs: 50,
    run: (options) =>
      post(options, '/api/v1/share', 'secret=it', {
        ...FORM,
        Authorization: basicAuth(options.victim, String(guesses++)),
      }),
  },
  {
    name: 'wrong access tokens',
    concurrency: 3,
    pauseMs: 50,
    run: (options) => post(options, '/v4/diamond', '{}', { ...JSON_TYPE, Authorization: `Bearer x${guesses++}` }),
  },
  {
    name: 'scrypt',
    concurrency: 40,
    pauseMs: 50,
    run: (options) =>
      post(options, '/api/v1/share', 'secret=it&passphrase=sesame', { ...FORM, Authorization: options.basic }),
  },
  {
    name: 'tiny parameters',
    concurrency: 1,
    pauseMs: 200,
    run: (options) => post(options, `/api/v1/secret/${'0'.repeat(50)}`, TINY_PARAMETERS, FORM),
  },
  {
    name: 'CONNECT and reset',
    concurrency: 2,
    pauseMs: 20,
    run: (options) => withSocket(options, (socket) => sendAndReset(socket, 'CONNECT x:1 HTTP/1.1\r\n\r\n')),
  },
  {
    name: 'half requests and reset',
    concurrency: 2,
    pauseMs: 20,
    run: (options) =>
      withSocket(options, (socket) =>
        sendAndReset(
          socket,
          requestHead('POST', '/v4/diamond', {
            ...JSON_TYPE,
            Authorization: `Bearer ${options.token}`,
            'Content-Length': '300',
          }),
        ),
      ),
  },
]
