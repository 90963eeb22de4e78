import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { CommandLine } from './command-line.ts'
import { until } from '../until.ts'

type Context = { commands: CommandLine }
const test = suite<Context>('key rotate')
test.before.each((context) => {
  context.commands = new CommandLine()
})
test.after.each(({ commands }) => commands.remove())

test('links ends the links of a running service; links in later responses work', async ({ commands }) => {
  await commands.json('user', 'add', 'a@example.com', '--password', 'right horse')
  const client = await commands.json('client', 'add', 'shop')
  const { url } = JSON.parse(await commands.start(['serve', '--json']).line()) as { url: string }

  const grant = { grant_type: 'password', username: 'a@example.com', password: 'right horse' }
  const credentials = { client_id: String(client['client_id']), client_secret: String(client['client_secret']) }
  const body = new URLSearchParams({ ...credentials, ...grant })
  const granted = await fetch(`${url}/api/oauth/v2/token`, { method: 'POST', body })
  const { access_token } = (await granted.json()) as { access_token: string }
  const headers = { Authorization: `Bearer ${access_token}`, 'Content-Type': 'application/json' }
  const reportPageOf = async (response: Response) => ((await response.json()) as ReportPage)._links[0]?.href ?? ''

  const stone = JSON.stringify({ sku: 'A1', cutShape: 'Round', carat: 1 })
  const made = await fetch(`${url}/v4/diamond`, { method: 'POST', headers, body: stone })
  const link = await reportPageOf(made)
  assert.is((await fetch(link)).status, 200)

  assert.equal(await commands.json('key', 'rotate', 'links'), { rotated: 'links' })

  await until('the link to end', async () => (await fetch(link)).status === 404)
  const again = await reportPageOf(await fetch(made.headers.get('location') ?? '', { headers }))
  assert.is((await fetch(again)).status, 200)
})

test('lists the keys that can be rotated if the given one is unknown', async ({ commands }) => {
  const { code, err } = await commands.run(['key', 'rotate', 'passwords'])
  assert.is(code, 2)
  assert.match(err, 'links')
})

type ReportPage = { readonly _links: readonly { readonly href: string }[] }

test.run()
