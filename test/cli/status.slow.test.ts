import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openStores } from '../open-stores.ts'
import { until } from '../until.ts'
import { CommandLine, PROGRAM } from './command-line.ts'

type Context = { commands: CommandLine }
type StatusResult = { ok: boolean; faults: string[]; models: { model: string; lag: number; behind: number }[] }

const test = suite<Context>('status')
test.before.each((context) => {
  context.commands = new CommandLine()
})
test.after.each(({ commands }) => commands.remove())

const statusOf = async (commands: CommandLine, code: number) =>
  (await commands.jsonWithExitCode(code, ['status'])) as StatusResult

/** Appends the creation of a stone at this time, as another process of the installation would. */
async function createdAt(dataDir: string, at: number): Promise<void> {
  const { store, close } = await openStores(dataDir)
  const metadata = { actor: 'operator', via: 'cli', schema: '1', at: new Date(at).toISOString() }
  const data = { id: 1, owner: 1, date: Math.floor(at / 1000), set: { sku: 'A-1', cutShape: 100, carat: 1 } }
  await store.append('diamond-1', 'none', [{ id: randomUUID(), type: 'DiamondCreated', data, metadata }])
  await close()
}

test('ends with 0 while the service runs, and with 1 and a remedy if no process does', async ({ commands }) => {
  const server = commands.start(['serve', '--json'])
  await server.line()
  assert.equal(await statusOf(commands, 0).then(({ ok, faults }) => [ok, faults]), [true, []])

  server.kill('SIGTERM')
  await server.ended

  const { ok, faults } = await statusOf(commands, 1)
  assert.is(ok, false)
  assert.match(faults.join(), /^no running process maintains the diamonds read model, .*: start the service$/)
  const { code, err } = await commands.run(['status'])
  assert.is(code, 1)
  assert.match(err, /start the service/)
})

/** A module for `--import` that fixes the clock at NOW. */
const FIXED_CLOCK = 'data:text/javascript,Date.now = () => Number(process.env.NOW)'

for (const [seconds, code] of [
  [60, 0],
  [61, 1],
] as const) {
  test(`ends with ${code} if a read model is ${seconds} s behind`, async ({ commands }) => {
    const server = commands.start(['serve', '--json'])
    await server.line()
    // A process that is stopped during a write would block all other writers.
    await until('the read models to catch up', async () =>
      (await statusOf(commands, 0)).models.every(({ model, lag }) => model === 'tree' || lag === 0),
    )
    await server.freeze()
    const now = Date.now()
    await createdAt(commands.dataDir, now - seconds * 1000)
    const status = commands.start(['status', '--json'], { NOW: String(now) }, ['--import', FIXED_CLOCK, PROGRAM])
    const { code: ended, out, err } = await status.ended
    assert.is(ended, code, err)
    const { models, faults } = JSON.parse(out) as StatusResult
    const { lag, behind } = models.find(({ model }) => model === 'diamonds') ?? {}
    assert.equal([lag, behind], [1, seconds])
    assert.is(faults.join().includes(`the diamonds read model is ${seconds} s behind (1 event)`), code === 1)
    server.kill('SIGCONT')
    server.kill('SIGTERM')
    await server.ended
  })
}

test.run()
