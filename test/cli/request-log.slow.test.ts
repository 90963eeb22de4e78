import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { VERSION } from '../../src/runtime/version.ts'
import { CommandLine } from './command-line.ts'

type Context = { commands: CommandLine }
const test = suite<Context>('the request log')
test.before.each((context) => {
  context.commands = new CommandLine()
})
test.after.each(({ commands }) => commands.remove())

type Line = Readonly<Record<string, unknown>>
const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
/** A request id that would add members to the line if it were not escaped. */
const ID = 'mine","status":500,"msg":"\\'
const SECRET = 'kept-out-of-the-log'

/** Sends five requests to a service. @returns the log lines that it wrote to stderr */
async function linesOf(commands: CommandLine, settings: Readonly<Record<string, string>>): Promise<Line[]> {
  const server = commands.start(['serve', '--json'], { LOG_LEVEL: 'info', ...settings })
  const { url } = JSON.parse(await server.line()) as { url: string }
  const get = (path: string, headers = {}) => fetch(`${url}${path}`, { headers }).then((response) => response.text())
  await get('/v2/constants', { 'X-Request-Id': ID, traceparent: TRACE })
  await get(`/diamond/77?signature=${SECRET}`)
  await get(`/secret/${SECRET}`)
  await get('/v4/diamond', { Authorization: `Bearer ${SECRET}` })
  await get(`/no/${SECRET}`)
  server.kill('SIGTERM')
  const { err } = await server.ended
  assert.not.match(err, SECRET)
  return err
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line)
}

test('has a line for each request with endpoint, status and duration, and no secrets', async ({ commands }) => {
  const lines = await linesOf(commands, {})
  const [first] = lines
  assert.ok(first)
  assert.is(first['msg'], 'starting')
  assert.is(first['version'], VERSION)
  assert.type(first['settings'], 'object')
  const requests = lines.filter(({ msg }) => msg === 'request')
  assert.equal(
    requests.map(({ method, endpoint, status }) => [method, endpoint, status]),
    [
      ['GET', 'readConstants', 200],
      ['GET', 'readReportPage', 404],
      ['GET', 'askSecretReader', 404],
      ['GET', 'listDiamonds', 401],
      ['GET', null, 404],
    ],
  )
  assert.is(requests[0]?.['request'], ID)
  assert.equal(
    requests.map(({ trace }) => trace),
    ['4bf92f3577b34da6a3ce929d0e0e4736', undefined, undefined, undefined, undefined],
  )
  for (const { ms, bytes, level } of requests) {
    assert.ok(typeof ms === 'number' && ms >= 0)
    assert.ok(typeof bytes === 'number' && bytes > 0)
    assert.is(level, 30)
  }
  assert.not.ok(requests.some((line) => 'address' in line))
})

test('has client addresses if LOG_ADDRESSES is true', async ({ commands }) => {
  const lines = await linesOf(commands, { LOG_ADDRESSES: 'true' })
  for (const { address } of lines.filter(({ msg }) => msg === 'request'))
    assert.match(String(address), /127\.0\.0\.1|::1/)
})

test.run()
