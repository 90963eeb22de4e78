import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { stone } from '../api/harness/stones.ts'
import { areEmbedded } from '../engines.ts'
import { until } from '../until.ts'
import { CommandLine, type RunningProgram } from './command-line.ts'

const test = suite<{ commands: CommandLine }>('a hung process')
test.before.each(async (context) => {
  context.commands = new CommandLine()
  await context.commands.json('user', 'add', 'a@example.com', '--password', 'right horse')
})
test.after.each(({ commands }) => commands.remove())

async function start(commands: CommandLine): Promise<{ readonly server: RunningProgram; readonly url: string }> {
  const server = commands.start(['serve', '--json'])
  const { url } = JSON.parse(await server.line()) as { url: string }
  return { server, url }
}

test('loses its projections to another process, and does not take them back when it continues', async ({
  commands,
}) => {
  const hung = await start(commands)
  const other = await start(commands)
  const { client_id, client_secret } = await commands.json('client', 'add', 'tests')
  const credentials = { client_id: String(client_id), client_secret: String(client_secret) }
  const user = { grant_type: 'password', username: 'a@example.com', password: 'right horse' }
  const form = new URLSearchParams({ ...user, ...credentials })
  const response = await fetch(`${hung.url}/api/oauth/v2/token`, { method: 'POST', body: form })
  const { access_token } = (await response.json()) as { access_token: string }
  const headers = { Authorization: `Bearer ${access_token}`, 'Content-Type': 'application/json' }
  const create = async (url: string, sku: string) => {
    const body = JSON.stringify(stone({ sku }))
    return (await fetch(`${url}/v4/diamond`, { method: 'POST', headers: { ...headers, 'Idempotency-Key': sku }, body }))
      .status
  }
  const total = async (url: string, query = '') =>
    (await fetch(`${url}/v4/diamond${query}`, { headers })).headers.get('x-total-count')

  assert.is(await create(hung.url, 'BEFORE'), 201)
  await until('its scores', async () => (await total(hung.url, '?f[hasScores]=1')) === '1')
  // A process that is frozen during a commit holds SQLite's lock of the log, so that writes get 503; then it is frozen again.
  await until('it to hang outside of a commit', async () => {
    await hung.server.freeze()
    const status = await create(other.url, 'MEANWHILE')
    if (status !== 201) hung.server.kill('SIGCONT')
    return status === 201
  })
  await until('the other process to take over', async () => (await total(other.url)) === '2')
  hung.server.kill('SIGCONT')
  await until('it to notice', async () => hung.server.stderr.includes('another process has taken over a projection'))
  assert.is(await create(hung.url, 'AFTER'), 201)
  for (const { url } of [hung, other])
    await until('both processes to show all stones', async () => (await total(url)) === '3')
  for (const { server } of [hung, other]) {
    server.kill('SIGTERM')
    assert.is((await server.ended).code, 0)
  }
  const verified = await commands.run(['verify'])
  assert.is(verified.code, 0, verified.err + verified.out)
})

if (areEmbedded) test.run()
