import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openStores } from '../open-stores.ts'
import { appendTo } from '../projections/engine/poison-events.ts'
import { CommandLine } from './command-line.ts'

type Context = { commands: CommandLine }
const test = suite<Context>('an account with an event that this release cannot decode')
test.before.each(async (context) => {
  context.commands = await CommandLine.onEngines()
})
test.after.each(({ commands }) => commands.remove())

test('is listed like the others, with a warning', async ({ commands }) => {
  for (const email of ['a@example.com', 'b@example.com']) {
    await commands.json('user', 'add', email, '--password', 'right horse')
  }
  const { store, close } = await openStores(commands.dataDir)
  await appendTo(store, 'account-1', { type: 'AccountMerged', data: { into: 2 } })
  await close()
  const { code, out, err } = await commands.run(['user', 'list', '--json'])
  assert.is(code, 0)
  const { accounts } = JSON.parse(out) as { accounts: { email: string }[] }
  assert.equal(
    accounts.map(({ email }) => email),
    ['a@example.com', 'b@example.com'],
  )
  assert.match(err, /account-1: .* AccountMerged/)
})

test.run()
