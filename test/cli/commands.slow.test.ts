import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { MODEL_VERSION } from '../../src/commands/scores/score-diamonds.ts'
import { READ_MODELS } from '../../src/wiring/consumers.ts'
import { CommandLine } from './command-line.ts'

type Context = { commands: CommandLine }
const test = suite<Context>('the command line')
test.before.each(async (context) => {
  context.commands = await CommandLine.onEngines()
})
test.after.each(({ commands }) => commands.remove())

test('ends with 2 for an unknown command or invalid arguments', async ({ commands }) => {
  const invalid = [
    ['srve'],
    ['user', 'add'],
    ['user', 'add', 'a@example.com'],
    ['user', 'plan', 'a@example.com', 'gold'],
  ]
  const ended = await commands.runInTurn(invalid)
  assert.equal(
    ended.map(({ code }) => code),
    [2, 2, 2, 2],
  )
})

const WITH_EXAMPLES = [
  'serve',
  'demo',
  'import',
  'export',
  'rescore',
  'status',
  'dead-letters',
  'dead-letters list',
  'dead-letters retry',
  'events',
  'user add',
  'user list',
  'client rotate',
  'webhook add',
  'token revoke',
]

test('shows an example with --help', async ({ commands }) => {
  const helps = await commands.runInTurn(WITH_EXAMPLES.map((words) => [...words.split(' '), '--help']))
  for (const [index, { code, out }] of helps.entries()) {
    assert.is(code, 0, WITH_EXAMPLES[index])
    assert.match(out, /Examples?:\n {2}\S/, WITH_EXAMPLES[index])
  }
})

test('prints one line of JSON with --json', async ({ commands }) => {
  const user = await commands.json('user', 'add', 'a@example.com', '--password', 'right horse')
  assert.equal(user, { account: 1, email: 'a@example.com' })
  assert.equal(Object.keys(await commands.json('client', 'add', 'x')), ['client_id', 'client_secret'])
  assert.match(String((await commands.json('token', 'add', 'a@example.com'))['token']), /^[\w-]{43}$/)
  assert.equal((await commands.json('user', 'list'))['accounts'], [
    { account: 1, email: 'a@example.com', plan: 'basic', status: 'enabled' },
  ])
})

test('prints an API token alone, for a shell variable; its id is a note', async ({ commands }) => {
  await commands.json('user', 'add', 'a@example.com', '--password', 'right horse')
  const { out, err } = await commands.run(['token', 'add', 'a@example.com'])
  assert.match(out, /^[\w-]{43}\n$/)
  assert.match(err, /^Its id is [0-9a-f]+; the token is shown only once$/m)
})

test('takes an account by its number, unless it was forgotten', async ({ commands }) => {
  const ADDRESS = 'a@example.com'
  await commands.json('user', 'add', ADDRESS, '--password', 'right horse')
  assert.equal(await commands.json('user', 'plan', '1', 'pro'), { account: 1, email: ADDRESS })
  assert.equal(await commands.json('user', 'disable', 'account-1'), { account: 1, email: ADDRESS })
  assert.equal(await commands.json('token', 'list', '1'), { tokens: [] })
  await commands.json('forget', 'user', '1', '--yes')
  const [forgotten, unknown] = await commands.runInTurn([
    ['user', 'enable', '1'],
    ['export', '--user', '7'],
  ])
  assert.match(forgotten?.err ?? '', 'Account 1 was forgotten')
  assert.match(unknown?.err ?? '', 'There is no account 7')
  assert.equal([forgotten?.code, unknown?.code], [1, 1])
})

test('ends with 2 for an id that can have no history, with 1 for one that has none', async ({ commands }) => {
  await commands.json('user', 'add', 'a@example.com', '--password', 'right horse')
  const ended = await commands.runInTurn([
    ['audit', 'diamond', 'A-1'],
    ['prove', 'diamond', 'A-1'],
    ['audit', 'diamond', '7'],
    ['prove', 'diamond', '7'],
  ])
  assert.equal(
    ended.map(({ code }) => code),
    [2, 2, 1, 1],
  )
})

test('ends with 1 and a message for an account that already exists or is unknown', async ({ commands }) => {
  await commands.json('user', 'add', 'a@example.com', '--password', 'right horse')
  const duplicate = await commands.run(['user', 'add', 'A@example.com', '--password', 'other horse'])
  assert.is(duplicate.code, 1)
  assert.match(duplicate.err, 'already registered')
  const unknown = await commands.run(['token', 'add', 'b@example.com'])
  assert.is(unknown.code, 1)
  assert.match(unknown.err, 'There is no account b@example.com')
})

test('follows the events that another process writes', async ({ commands }) => {
  await commands.json('user', 'add', 'a@example.com', '--password', 'right horse')
  const following = commands.start(['events', '--follow', '--json', '--type', 'AccountRegistered'])
  await following.line()
  await commands.json('user', 'add', 'b@example.com', '--password', 'right horse')

  const event = JSON.parse(await following.line((line) => line.includes('"stream":"account-2"'))) as Record<
    string,
    unknown
  >

  assert.is(event['stream'], 'account-2')
  assert.is(event['actor'], 'operator')
  following.kill('SIGINT')
  assert.is((await following.ended).code, 0)
})

test('prints the events after a position, and no password', async ({ commands }) => {
  await commands.json('user', 'add', 'a@example.com', '--password', 'right horse')
  const all = (await commands.run(['events', '--json'])).out.trim().split('\n')
  const { position } = JSON.parse(all[0] ?? '') as { position: string }
  const { out } = await commands.run(['events', '--json', '--from', position])
  assert.equal(out.trim().split('\n'), all.slice(1))
  assert.not.match(out, 'right horse')
})

test('reports the head of the log and the state of each read model and of scoring', async ({ commands }) => {
  await commands.json('user', 'add', 'a@example.com', '--password', 'right horse')
  type Status = { ok: boolean; head: string; models: Record<string, unknown>[]; scoring: Record<string, unknown> }
  const { ok, head, models, scoring } = (await commands.jsonWithExitCode(1, ['status'])) as Status
  assert.is(ok, false)
  assert.ok(Number(head) > 0)
  assert.equal(scoring, { model: MODEL_VERSION, position: 'start', lag: 0, behind: 0, running: false })
  assert.equal(
    models.map(({ model, build, lag, running }) => ({ model, build, lag: Number(lag) > 0, running })),
    READ_MODELS.map((projection) => {
      // Only a read model that follows all streams lags by the event of the added account.
      return { model: projection.declaration.name, build: null, lag: 'fold' in projection, running: false }
    }),
  )
})

test.run()
