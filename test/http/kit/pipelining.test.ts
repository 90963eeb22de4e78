import { once } from 'node:events'
import type { RequestListener, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { CONNECTION_LIMITS, listen, type ListeningServer } from '../../../src/http/kit/server.ts'
import { randomFor } from '../../seeded.ts'
import { until, waitFor } from '../../until.ts'

const test = suite('pipelined requests')

/** Runs with a server, and a client that has connected to it. */
async function withConnection(
  listener: RequestListener,
  run: (client: { readonly socket: Socket; received(): string }, server: ListeningServer) => Promise<void>,
): Promise<void> {
  const server = await listen(listener, { host: '127.0.0.1', port: 0 })
  const socket = connect(server.port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('error', () => {}).on('data', (chunk: Buffer) => chunks.push(chunk))
  try {
    await run({ socket, received: () => Buffer.concat(chunks).toString('latin1') }, server)
  } finally {
    socket.destroy()
    await server.stop()
  }
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`
const post = (path: string, body: string) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`
const chunked = (path: string, parts: readonly string[]) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n` +
  [...parts, ''].map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('')

/** Responds with the request's path and body. */
const echo: RequestListener = (req, res) => {
  let body = ''
  req.setEncoding('latin1').on('data', (part: string) => (body += part))
  req.on('end', () => res.end(`<${req.url} ${body}>`))
}

/** The bodies of the responses so far. */
const bodiesIn = (received: string) => received.match(/<[^>]*>/g) ?? []

test('are started one at a time: each after the response before was sent', async () => {
  const paths: (string | undefined)[] = []
  let openCount = 0
  const listener: RequestListener = ({ url }, res) => {
    paths.push(url)
    openCount++
    res.on('close', () => openCount--)
    setImmediate(() => {
      assert.is(openCount, 1)
      res.end(`<${url}>`)
    })
  }
  await withConnection(listener, async ({ socket, received }) => {
    const sent = Array.from({ length: 1000 }, (_, at) => `/${at}`)
    socket.write(sent.map(get).join(''))
    await until('the last response', () => received().includes('</999>'))
    assert.equal(paths, sent)
  })
})

test('wait while the client does not read the response before', async () => {
  // More than the buffers of the operating system.
  const body = 'x'.repeat(32 * 1024 * 1024)
  const paths: (string | undefined)[] = []
  const server = await listen(
    ({ url }, res) => {
      paths.push(url)
      res.end(url === '/long' ? body : `<${url}>`)
    },
    { host: '127.0.0.1', port: 0 },
  )
  const socket = connect(server.port, '127.0.0.1')
  try {
    // Without a listener for data the client reads nothing.
    socket.write(get('/long') + get('/next'))
    await until('the first request', () => paths.length === 1)
    const other = await fetch(`http://127.0.0.1:${server.port}/other`)
    assert.is(await other.text(), '</other>')
    assert.equal(paths, ['/long', '/other'])
    let end = ''
    socket.on('data', (chunk: Buffer) => (end = (end + chunk.toString('latin1')).slice(-100)))
    await until('the next response', () => end.endsWith('</next>'))
    assert.equal(paths, ['/long', '/other', '/next'])
  } finally {
    socket.destroy()
    await server.stop()
  }
})

test('are read whatever their bodies are and however they are split into packets', async () => {
  const random = randomFor('pipelined requests')
  const bodyOf = () =>
    random.pick(['', 'short', 'a\r\n\r\nb', 'x'.repeat(random.below(5000)), '\r\n\r\n'.repeat(400)]) ?? ''
  const requestTo = (path: string) => {
    const body = bodyOf()
    return random.pick([
      { bytes: get(path), response: `<${path} >` },
      { bytes: post(path, body), response: `<${path} ${body}>` },
      { bytes: chunked(path, body.match(/^.|[^]+/g) ?? []), response: `<${path} ${body}>` },
    ])
  }
  for (let round = 0; round < 30; round++) {
    const sent = Array.from({ length: 20 }, (_, at) => requestTo(`/${round}-${at}`))
    await withConnection(echo, async ({ socket, received }) => {
      let rest = sent.map(({ bytes }) => bytes).join('')
      while (rest !== '') {
        const length = 1 + random.below(random.pick([3, 100, 5000, 70_000]))
        socket.write(rest.slice(0, length), 'latin1')
        rest = rest.slice(length)
        await new Promise(setImmediate)
      }
      await until('all responses', () => bodiesIn(received()).length === sent.length)
      assert.equal(
        bodiesIn(received()),
        sent.map(({ response }) => response),
      )
    })
  }
})

test('behind a request whose body was refused are answered in their turn', async () => {
  const refusing: RequestListener = (req, res) => {
    if (req.method === 'GET') return void res.end(`<${req.url}>`)
    res.writeHead(413).end('<refused>')
    req.resume()
  }
  await withConnection(refusing, async ({ socket, received }) => {
    socket.write(post('/', 'x'.repeat(200_000)) + get('/a') + chunked('/', ['y'.repeat(200_000)]) + get('/b'))
    await until('all responses', () => received().includes('</b>'))
    assert.equal(bodiesIn(received()), ['<refused>', '</a>', '<refused>', '</b>'])
  })
})

test('before bytes that are no request are answered first, and the connection is then closed', async () => {
  await withConnection(echo, async ({ socket, received }) => {
    const ended = once(socket, 'end')
    socket.write(`${get('/a')}${get('/b')}nonsense\r\n\r\n${get('/c')}`)
    await waitFor('the end of the connection', ended)
    assert.equal(bodiesIn(received()), ['</a >', '</b >'])
    assert.match(received(), /<\/b >HTTP\/1\.1 400 Bad Request\r\n/)
    assert.not.match(received(), /\/c/)
  })
})

test('before a CONNECT are answered first', async () => {
  await withConnection(echo, async ({ socket, received }) => {
    const ended = once(socket, 'end')
    socket.write(`${get('/a')}CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n${get('/c')}`)
    await waitFor('the end of the connection', ended)
    assert.match(received(), /<\/a >HTTP\/1\.1 400 Bad Request\r\n/)
    assert.not.match(received(), /\/c/)
  })
})

test('are all answered if the client has ended its side', async () => {
  await withConnection(echo, async ({ socket, received }) => {
    const ended = once(socket, 'end')
    socket.end(get('/a') + get('/b') + get('/c'))
    await waitFor('the end of the connection', ended)
    assert.equal(bodiesIn(received()), ['</a >', '</b >', '</c >'])
  })
})

test('of a client that has disconnected are not started', async () => {
  const paths: (string | undefined)[] = []
  const open: ServerResponse[] = []
  await withConnection(
    (req, res) => {
      paths.push(req.url)
      open.push(res)
    },
    async ({ socket }, server) => {
      socket.write(get('/a') + get('/b'))
      await until('the first request', () => open.length === 1)
      const [res] = open
      const closed = res && once(res, 'close')
      socket.resetAndDestroy()
      // The server reads no further while it holds /b, so it notices the disconnection when it responds.
      res?.end('x'.repeat(16 * 1024 * 1024))
      await closed
      const again = fetch(`http://127.0.0.1:${server.port}/c`)
      await until('another request', () => paths.includes('/c'))
      open.at(-1)?.end()
      await again
      assert.equal(paths, ['/a', '/c'])
    },
  )
})

test('wait on a limited number of connections: more are closed, but other addresses have room', async () => {
  const open: ServerResponse[] = []
  const paths: (string | undefined)[] = []
  const listener: RequestListener = ({ url }, res) => {
    paths.push(url)
    open.push(res)
  }
  let refused = 0
  const limits = { ...CONNECTION_LIMITS, maxPipelining: 4, onRefused: () => refused++ }
  const server = await listen(listener, { host: '127.0.0.1', port: 0, limits })
  /** Sends two requests on a new connection, of which the second one waits. */
  const pipeline = async (name: string, localAddress: string) => {
    const socket = connect({ port: server.port, host: '127.0.0.1', localAddress })
    socket.on('error', () => {}).resume()
    const closed = new Promise<'closed'>((done) => socket.on('close', () => done('closed')))
    socket.write(get(`/${name}1`))
    await until('the first request', () => paths.includes(`/${name}1`))
    socket.write(get(`/${name}2`))
    return { socket, closed }
  }
  const clients = [await pipeline('a', '127.0.0.1'), await pipeline('b', '127.0.0.1')]
  try {
    const { closed } = await pipeline('c', '127.0.0.1')
    await waitFor('the refusal', closed)
    assert.is(refused, 1)
    const names = ['a', 'b']
    // Only Linux has all of 127.0.0.0/8 without configuration.
    if (process.platform === 'linux') {
      clients.push(await pipeline('d', '127.0.0.2'))
      names.push('d')
    }
    for (const res of open) res.end()
    for (const name of names) await until('the second request', () => paths.includes(`/${name}2`))
    assert.is(refused, 1)
  } finally {
    for (const res of open) res.end()
    for (const { socket } of clients) socket.destroy()
    await server.stop()
  }
})

test.run()
