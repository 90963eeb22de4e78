import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { CommandLine } from './command-line.ts'
import { until } from '../until.ts'

type Context = { commands: CommandLine; url: string }
const test = suite<Context>('the API tokens of an account')
test.before(async (context) => {
  context.commands = new CommandLine()
  await context.commands.json('user', 'add', EMAIL, '--password', 'right horse')
  context.url = (JSON.parse(await context.commands.start(['serve', '--json']).line()) as { url: string }).url
})
test.after(({ commands }) => commands.remove())

const EMAIL = 'a@example.com'

async function newToken({ commands }: Context, ...options: string[]): Promise<{ token: string; id: string }> {
  const { token, id } = await commands.json('token', 'add', EMAIL, ...options)
  return { token: String(token), id: String(id) }
}

const statusWith = async ({ url }: Context, token: string): Promise<number> => {
  const headers = { Authorization: `Basic ${Buffer.from(`${EMAIL}:${token}`).toString('base64')}` }
  return (await fetch(`${url}/api/v1/share`, { method: 'POST', headers, body: new URLSearchParams({ secret: 'x' }) }))
    .status
}

const setPassword = (commands: CommandLine, ...options: string[]) =>
  commands.json('user', 'password', EMAIL, '--password', 'other horse', ...options)

test('are revoked by a new password, unless --keep-api-tokens is given', async (context) => {
  const { token } = await newToken(context)
  assert.is(await statusWith(context, token), 200)
  await setPassword(context.commands, '--keep-api-tokens')
  assert.is(await statusWith(context, token), 200)
  await setPassword(context.commands)
  assert.is(await statusWith(context, token), 401)
})

test('are revoked when the account is disabled; with --keep-api-tokens they work again when it is enabled', async (context) => {
  const { commands } = context
  const { token } = await newToken(context)
  await commands.json('user', 'disable', EMAIL, '--keep-api-tokens')
  assert.is(await statusWith(context, token), 401)
  await commands.json('user', 'enable', EMAIL)
  assert.is(await statusWith(context, token), 200)
  await commands.json('user', 'disable', EMAIL)
  await commands.json('user', 'enable', EMAIL)
  assert.is(await statusWith(context, token), 401)
})

test('are listed with the time of their last use and of their expiry', async (context) => {
  const { commands } = context
  type Listed = { id: string; issuedAt: string; lastUsedAt: string | null; expiresAt: string | null }
  const [used, unused] = [await newToken(context), await newToken(context, '--expires-in', '90')]
  const listed = async ({ id }: { id: string }) =>
    ((await commands.json('token', 'list', EMAIL))['tokens'] as Listed[]).find((one) => one.id === id)

  const before = Date.now()
  assert.is(await statusWith(context, used.token), 200)
  await until('the use of the token', async () => (await listed(used))?.lastUsedAt !== null)

  const [first, second] = [await listed(used), await listed(unused)]
  const [at, after] = [Date.parse(first?.lastUsedAt ?? ''), Date.now()]
  assert.ok(
    at > before - 1_000 && at <= after,
    `${first?.lastUsedAt} must be the time of the request, in whole seconds`,
  )
  assert.is(first?.expiresAt, null)
  assert.is(second?.lastUsedAt, null)
  assert.is(Date.parse(second?.expiresAt ?? '') - Date.parse(second?.issuedAt ?? ''), 90 * 86_400_000)
})

test('cannot lock their owner out: wrong tokens do not count as failed log-ins', async (context) => {
  const { commands, url } = context
  const client = await commands.json('client', 'add', 'shop')
  for (let count = 1; count <= 10; count++) assert.is(await statusWith(context, `wrong ${count}`), 401)
  const credentials = { client_id: String(client['client_id']), client_secret: String(client['client_secret']) }
  const grant = { grant_type: 'password', username: EMAIL, password: 'other horse' }
  const body = new URLSearchParams({ ...credentials, ...grant })
  assert.is((await fetch(`${url}/api/oauth/v2/token`, { method: 'POST', body })).status, 200)
})

test('expire after 1 to 3650 days', async ({ commands }) => {
  for (const days of ['0', '3651', 'soon']) {
    const { code, err } = await commands.run(['token', 'add', EMAIL, '--expires-in', days])
    assert.is(code, 2)
    assert.match(err, '1 to 3650')
  }
})

test.run()
