import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openStores } from '../open-stores.ts'
import { CommandLine } from './command-line.ts'

type Context = { commands: CommandLine }
type Status = { ok: boolean; faults: string[]; models: { model: string; lag: number; behind: number }[] }

const test = suite<Context>('status')
test.before.each((context) => {
  context.commands = new CommandLine()
})
test.after.each(({ commands }) => commands.remove())

const statusOf = async (commands: CommandLine, code: number) => (await commands.jsonEnding(code, ['status'])) as Status

/** A stone whose creation was written so many seconds ago, as another process of the installation would have. */
async function createdAgo(dataDir: string, seconds: number): Promise<void> {
  const { store, close } = await openStores(dataDir)
  const at = Date.now() - seconds * 1000
  const metadata = { actor: 'operator', via: 'cli', schema: '1', at: new Date(at).toISOString() }
  const data = { id: 1, owner: 1, date: Math.floor(at / 1000), set: { sku: 'A-1', cutShape: 100, carat: 1 } }
  await store.append('diamond-1', 'none', [{ id: randomUUID(), type: 'DiamondCreated', data, metadata }])
  await close()
}

test('ends with 0 while the service runs, and with 1 and what to do when nothing does', async ({ commands }) => {
  const server = commands.start(['serve', '--json'])
  await server.line()
  assert.equal(await statusOf(commands, 0).then(({ ok, faults }) => [ok, faults]), [true, []])

  server.kill('SIGTERM')
  await server.ended

  const { ok, faults } = await statusOf(commands, 1)
  assert.is(ok, false)
  assert.match(faults.join(), /^nothing keeps the diamonds read model, .* up to date: start the service$/)
  const { code, err } = await commands.run(['status'])
  assert.is(code, 1)
  assert.match(err, /start the service/)
})

for (const [seconds, code] of [
  [30, 0],
  [90, 1],
] as const) {
  test(`ends with ${code} where a read model is ${seconds} s behind`, async ({ commands }) => {
    const server = commands.start(['serve', '--json'])
    await server.line()
    server.kill('SIGSTOP')
    await createdAgo(commands.dataDir, seconds)
    const { models, faults } = await statusOf(commands, code)
    assert.ok(models.some(({ model, lag, behind }) => model === 'diamonds' && lag === 1 && behind >= seconds))
    assert.is(/the diamonds read model is \d+ s behind, 1 events/.test(faults.join()), code === 1)
    server.kill('SIGCONT')
    server.kill('SIGTERM')
    await server.ended
  })
}

test.run()
