import { userInfo } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { CommandLine } from './command-line.ts'

type Context = { commands: CommandLine }
const test = suite<Context>('the security log')
test.before.each((context) => {
  context.commands = new CommandLine()
})
test.after.each(({ commands }) => commands.remove())

type Line = Readonly<Record<string, unknown>>
const PASSWORD = 'right horse'
const LOG_INFO = { LOG_LEVEL: 'info' }

/** The security events among the lines that a process wrote to stderr. */
const securityEvents = (err: string): Line[] =>
  err
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line)
    .filter((line) => 'security' in line)

test("contains an administrator's actions, successful or failed, with the operating system's user", async ({
  commands,
}) => {
  const added = await commands.run(['user', 'add', 'a@example.com', '--password-stdin'], LOG_INFO, `${PASSWORD}\n`)
  const weak = await commands.run(['user', 'password', 'a@example.com', '--password-stdin'], LOG_INFO, 'password\n')
  const disabled = await commands.run(['user', 'disable', 'a@example.com'], LOG_INFO)
  const backup = join(commands.folder, 'backup')
  const backedUp = await commands.run(['backup', backup], LOG_INFO)
  const events = [added, weak, disabled, backedUp].flatMap(({ err }) => securityEvents(err))
  assert.equal(
    events.map(({ security, act, subject, outcome, osUser }) => [security, act, subject, outcome, osUser]),
    [
      ['administration', 'user add', 'a@example.com', 'done', userInfo().username],
      ['administration', 'user password', 'a@example.com', 'failed', userInfo().username],
      ['administration', 'user disable', 'a@example.com', 'done', userInfo().username],
      ['administration', 'backup', backup, 'done', userInfo().username],
    ],
  )
  assert.not.match(JSON.stringify(events), PASSWORD)
  assert.is(weak.code, 1)
  assert.match(weak.err, '10,000 most common')

  const { out } = await commands.run(['events', '--json', '--type', 'AccountDisabled'])
  const { metadata } = JSON.parse(out) as { metadata: Line }
  assert.is(metadata['osUser'], userInfo().username)
  assert.is(metadata['$correlationId'], events[2]?.['request'])
})

test('contains log-ins, failures and lockouts with their client address, and no text that a client typed', async ({
  commands,
}) => {
  await commands.run(['user', 'add', 'a@example.com', '--password-stdin'], {}, `${PASSWORD}\n`)
  const client = await commands.json('client', 'add', 'shop')
  const server = commands.start(['serve', '--json'], LOG_INFO)
  const { url } = JSON.parse(await server.line()) as { url: string }

  async function logIn(parameters: Readonly<Record<string, string>>): Promise<number> {
    const given = { grant_type: 'password', username: 'a@example.com', password: PASSWORD, ...parameters }
    const credentials = { client_id: String(client['client_id']), client_secret: String(client['client_secret']) }
    const body = new URLSearchParams({ ...credentials, ...given })
    return (await fetch(`${url}/api/oauth/v2/token`, { method: 'POST', body })).status
  }

  assert.is(await logIn({}), 200)
  for (let count = 1; count <= 5; count++) assert.is(await logIn({ password: 'my typo' }), 400)
  assert.is(await logIn({}), 429)
  assert.is(await logIn({ username: 'a secret in the wrong field', password: 'x' }), 400)
  assert.is(await logIn({ client_secret: 'half a secret' }), 401)
  const Authorization = `Basic ${Buffer.from('a@example.com:half a token').toString('base64')}`
  assert.is((await fetch(`${url}/api/v1/share`, { method: 'POST', headers: { Authorization } })).status, 401)

  server.kill('SIGTERM')
  const { err } = await server.ended
  const failed = ['log-in-failed', 1, '127.0.0.1']
  assert.equal(
    securityEvents(err).map(({ security, account, address }) => [security, account, address]),
    [
      ['log-in', 1, '127.0.0.1'],
      failed,
      failed,
      failed,
      failed,
      ['locked-out', 1, '127.0.0.1'],
      failed,
      ['log-in-failed', null, '127.0.0.1'],
      ['wrong-client-secret', undefined, '127.0.0.1'],
      ['wrong-api-token', 1, '127.0.0.1'],
    ],
  )
  assert.not.match(err, /my typo|wrong field|half a|right horse/)
  assert.not.match(err, String(client['client_secret']))
})

test.run()
