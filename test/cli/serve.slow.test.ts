import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { waitFor, until } from '../until.ts'
import { CommandLine } from './command-line.ts'

type Context = { commands: CommandLine }
const test = suite<Context>('serve')
test.before.each(async (context) => {
  context.commands = await CommandLine.onEngines()
})
test.after.each(({ commands }) => commands.remove())

const logIn = async (url: string, credentials: Readonly<Record<string, unknown>>): Promise<Response> => {
  const body = new URLSearchParams({ grant_type: 'password', username: 'a@example.com', password: 'right horse' })
  for (const [name, value] of Object.entries(credentials)) body.set(name, String(value))
  return fetch(`${url}/api/oauth/v2/token`, { method: 'POST', body })
}

/** Resolves when no process listens on the port any more. */
async function untilRefused(url: string): Promise<void> {
  await until(`${url} to be closed`, async () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    const listening = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    return !listening
  })
}

test('accepts an account and a client right after another process has added them', async ({ commands }) => {
  const server = commands.start(['serve', '--json'])
  const { url } = JSON.parse(await server.line()) as { url: string }

  await commands.run(['user', 'add', 'a@example.com', '--password-stdin'], {}, 'right horse\n')
  const client = await commands.json('client', 'add', 'tests')

  const response = await logIn(url, client)
  assert.is(response.status, 200, await response.text())
})

test('ends with 0 on SIGTERM', async ({ commands }) => {
  const server = commands.start(['serve', '--json'])
  const { url } = JSON.parse(await server.line()) as { url: string }
  assert.is((await fetch(`${url}/health/ready`)).status, 200)

  server.kill('SIGTERM')

  assert.is((await server.ended).code, 0)
})

test('responds to a request that was in progress when SIGTERM came', async ({ commands }) => {
  const server = commands.startWithLongTimeouts(['serve', '--json'])
  const { url } = JSON.parse(await server.line()) as { url: string }
  const body = 'grant_type=password&username=a&password=b&client_id=1_x&client_secret=y'
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': body.length }
  const pending = request(`${url}/api/oauth/v2/token`, { method: 'POST', headers })
  const responded = once(pending, 'response')
  pending.write(body.slice(0, 10))
  await fetch(`${url}/health/live`)

  server.kill('SIGTERM')
  await untilRefused(url)
  pending.end(body.slice(10))

  const [response] = (await responded) as [IncomingMessage]
  assert.is(response.statusCode, 401)
  response.resume()
  assert.is((await server.ended).code, 0)
})

test('ends immediately on a second signal', async ({ commands }) => {
  const server = commands.startWithLongTimeouts(['serve', '--json'])
  const { url } = JSON.parse(await server.line()) as { url: string }
  const pending = request(`${url}/api/oauth/v2/token`, { method: 'POST', headers: { 'Content-Length': 10 } })
  pending.on('error', () => {})
  pending.write('half')
  await fetch(`${url}/health/live`)

  server.kill('SIGTERM')
  await untilRefused(url)
  server.kill('SIGTERM')

  assert.is((await waitFor('the end of the service', server.ended)).code, 130)
})

test('fails with a message if the port is in use', async ({ commands }) => {
  const server = commands.start(['serve', '--json'])
  const { url } = JSON.parse(await server.line()) as { url: string }
  const { port } = new URL(url)

  const { code, err } = await commands.run(['serve'], { PORT: port })

  assert.is(code, 1)
  assert.match(err, `127.0.0.1:${port} is in use by another process`)
  assert.not.match(err, /^\s+at /m)
})

test('reports all invalid settings at once, with their valid values', async ({ commands }) => {
  const { code, err, out } = await commands.run(['serve'], { PORT: 'high', LOG_LEVEL: 'loud', MASTER_KEY: 'short' })
  assert.is(code, 2)
  assert.is(out, '')
  assert.match(err, 'PORT must be a port, 0 to 65535')
  assert.match(err, 'LOG_LEVEL must be trace')
  assert.match(err, 'MASTER_KEY must be 32 bytes in base64')
  assert.not.match(err, 'short')
})

test.run()
