import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { BULK_BODY_MAX_BYTES } from '../../src/http/kit/json-body.ts'
import { DEFAULT_BODY_MAX_BYTES } from '../../src/http/kit/read-body.ts'

/** The target of the attacks and the attackers' own credentials. Sent to another process: plain data only. */
export type Aim = {
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

/** One kind of attack, repeated by `many` attackers concurrently. */
export type Lane = {
  readonly name: string
  readonly many: number
  /** Milliseconds between two attacks. */
  readonly pause: number
  readonly once: (aim: Aim) => Promise<unknown>
}

const MIB = 1024 * 1024
const BOUNDARY = '----attack'

const head = (method: string, path: string, headers: Readonly<Record<string, string>>) =>
  `${method} ${path} HTTP/1.1\r\n${Object.entries({ Host: 'a', ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`

/** Opens a connection, uses it, and destroys it. */
async function withSocket({ port, localAddress }: Aim, use: (socket: Socket) => Promise<unknown>): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  socket.on('error', () => undefined)
  const gone = new Promise<void>((done) => socket.once('close', () => done()))
  await Promise.race([new Promise<void>((done) => socket.once('connect', done)), gone])
  await use(socket)
  socket.destroy()
}

/** Waits for the first bytes of a response, or the end of the connection. */
const answered = (socket: Socket) =>
  new Promise<void>((done) => void socket.once('data', () => done()).once('close', () => done()))

/** Sends one byte per interval until there is a response. */
async function drip(socket: Socket, milliseconds: number): Promise<void> {
  const answer = { came: false }
  socket.once('data', () => (answer.came = true))
  while (!answer.came && !socket.destroyed) {
    socket.write('.')
    await pause(milliseconds)
  }
}

const posted = (aim: Aim, path: string, body: string, headers: Readonly<Record<string, string>>) =>
  withSocket(aim, (socket) => {
    const length = String(Buffer.byteLength(body))
    socket.write(head('POST', path, { 'Content-Length': length, Connection: 'close', ...headers }) + body)
    return answered(socket)
  })

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' }
const JSON_TYPE = { 'Content-Type': 'application/json' }
const basicOf = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
/** As long as the body limit allows; a longer one would be rejected by its Content-Length. */
const TINY = 'a&'.repeat(DEFAULT_BODY_MAX_BYTES / 2)
let guesses = 0

function guess(aim: Aim, username: string): Promise<void> {
  const grant = { grant_type: 'password', username, password: `wrong ${guesses++}`, ...aim.client }
  return posted(aim, '/api/oauth/v2/token', new URLSearchParams(grant).toString(), FORM)
}

async function slowBody(aim: Aim, socket: Socket): Promise<void> {
  const headers = { ...JSON_TYPE, Authorization: `Bearer ${aim.token}`, 'Content-Length': String(BULK_BODY_MAX_BYTES) }
  socket.write(head('POST', '/v4/diamond/bulk', headers))
  socket.write('"'.padEnd(256 * 1024, 'x'))
  await drip(socket, 200)
}

async function slowUpload(aim: Aim, socket: Socket): Promise<void> {
  const type = `multipart/form-data; boundary=${BOUNDARY}`
  const headers = { 'Content-Type': type, Authorization: `Bearer ${aim.token}`, 'Content-Length': String(9 * MIB) }
  socket.write(head('POST', '/v4/certification', headers))
  socket.write(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n%PDF-1.7\n`)
  await drip(socket, 50)
}

async function reset(socket: Socket, text: string): Promise<void> {
  socket.write(text)
  await pause(2)
  socket.resetAndDestroy()
}

export const LANES: readonly Lane[] = [
  { name: 'slow bodies', many: 40, pause: 100, once: (aim) => withSocket(aim, (socket) => slowBody(aim, socket)) },
  {
    name: 'trickling uploads',
    many: 16,
    pause: 100,
    once: (aim) => withSocket(aim, (socket) => slowUpload(aim, socket)),
  },
  {
    name: 'slow headers',
    many: 40,
    pause: 100,
    once: (aim) =>
      withSocket(aim, async (socket) => {
        socket.write('GET / HTTP/1.1\r\nHost: a\r\nX: ')
        await drip(socket, 500)
      }),
  },
  { name: 'wrong passwords', many: 3, pause: 50, once: (aim) => guess(aim, aim.victim) },
  { name: 'wrong passwords of others', many: 3, pause: 50, once: (aim) => guess(aim, `user${guesses}@example.com`) },
  {
    name: 'wrong API tokens',
    many: 3,
    pause: 50,
    once: (aim) =>
      posted(aim, '/api/v1/share', 'secret=it', { ...FORM, Authorization: basicOf(aim.victim, String(guesses++)) }),
  },
  {
    name: 'wrong access tokens',
    many: 3,
    pause: 50,
    once: (aim) => posted(aim, '/v4/diamond', '{}', { ...JSON_TYPE, Authorization: `Bearer x${guesses++}` }),
  },
  {
    name: 'scrypt',
    many: 40,
    pause: 50,
    once: (aim) => posted(aim, '/api/v1/share', 'secret=it&passphrase=sesame', { ...FORM, Authorization: aim.basic }),
  },
  {
    name: 'tiny parameters',
    many: 1,
    pause: 200,
    once: (aim) => posted(aim, `/api/v1/secret/${'0'.repeat(50)}`, TINY, FORM),
  },
  {
    name: 'CONNECT and reset',
    many: 2,
    pause: 20,
    once: (aim) => withSocket(aim, (socket) => reset(socket, 'CONNECT x:1 HTTP/1.1\r\n\r\n')),
  },
  {
    name: 'half requests and reset',
    many: 2,
    pause: 20,
    once: (aim) =>
      withSocket(aim, (socket) =>
        reset(
          socket,
          head('POST', '/v4/diamond', { ...JSON_TYPE, Authorization: `Bearer ${aim.token}`, 'Content-Length': '300' }),
        ),
      ),
  },
]
