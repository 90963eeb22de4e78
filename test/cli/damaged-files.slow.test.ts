import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { DAMAGES, fileIn, putAsideIn } from '../damage.ts'
import { areEmbedded } from '../engines.ts'
import { waitFor } from '../until.ts'
import { CommandLine, type CommandResult } from './command-line.ts'

type Context = { commands: CommandLine; intact: string; backup: string }
const test = suite<Context>('a damaged file')
const STONES = 100

test.before(async (context) => {
  const commands = new CommandLine()
  context.commands = commands
  context.intact = join(commands.folder, 'intact')
  context.backup = join(commands.folder, 'backup')
  const stock = join(commands.folder, 'stones.csv')
  const lines = Array.from({ length: STONES }, (_, index) => `A-${index + 1},Round,1`)
  writeFileSync(stock, `sku,cutShape,carat\n${lines.join('\n')}\n`)
  await commands.json('user', 'add', 'a@example.com', '--password', 'right horse')
  await commands.json('import', stock, '--user', 'a@example.com')
  await serveUntilReady(commands)
  await commands.json('backup', context.backup)
  cpSync(commands.dataDir, context.intact, { recursive: true })
})
test.before.each(({ commands, intact }) => {
  rmSync(commands.dataDir, { recursive: true })
  cpSync(intact, commands.dataDir, { recursive: true })
})
test.after(({ commands }) => commands.remove())

async function serveUntilReady(commands: CommandLine): Promise<void> {
  const server = commands.start(['serve', '--json'])
  await server.line()
  server.kill('SIGTERM')
  assert.is((await server.ended).code, 0)
}

const failure = (ended: CommandResult): string => {
  assert.is(ended.code, 1, ended.err)
  const lines = ended.err.trim().split('\n')
  assert.is(lines.length, 1, ended.err)
  return lines[0] ?? ''
}

const differencesOf = async (commands: CommandLine): Promise<{ where: string; do: string }[]> =>
  (await commands.jsonWithExitCode(1, ['verify']))['differences'] as { where: string; do: string }[]

const LOG_REMEDY =
  /events\.db is damaged: stop the service, and run `adamant restore FROM --replace` with the newest backup/
/** SQLite would make a new log of an empty file, so it counts as missing. */
const LOST_LOG_REMEDY = /events\.db is empty, .* put events\.db back, .* or run `adamant restore FROM --replace`/
const VAULT_REMEDY =
  /vault\.db is damaged: stop the service, and run `adamant restore FROM --in-place` with the newest backup/
const FILES = DAMAGES.filter(([name]) => !name.includes('folder'))

for (const [name, damage] of FILES) {
  test(`of the event log, ${name}, stops the service and commands with its name and the remedy, which mends it`, async ({
    commands,
    backup,
  }) => {
    damage(fileIn(commands.dataDir, 'events'))
    const remedy = name.includes('empty') ? LOST_LOG_REMEDY : LOG_REMEDY
    const server = commands.start(['serve'])
    assert.match(failure(await waitFor('serve to refuse to start', server.ended)), remedy)
    for (const words of [['status'], ['rebuild', '--all'], ['export', '--user', 'a@example.com']])
      assert.match(failure(await commands.run(words)), remedy)
    await commands.json('restore', backup, '--replace')
    await serveUntilReady(commands)
    await commands.json('verify')
  })
}

for (const [name, damage] of FILES.filter(([each]) => /first page|half|text/.test(each))) {
  test(`of the vault, ${name}, stops the service and commands with its name and the remedy, which mends it`, async ({
    commands,
    backup,
  }) => {
    damage(fileIn(commands.dataDir, 'vault'))
    const server = commands.start(['serve'])
    assert.match(failure(await waitFor('serve to refuse to start', server.ended)), VAULT_REMEDY)
    for (const words of [['status'], ['user', 'list']]) assert.match(failure(await commands.run(words)), VAULT_REMEDY)
    await commands.json('restore', backup, '--in-place')
    assert.match(putAsideIn(commands.dataDir).join(' '), /^vault\.db\.damaged-/)
    await serveUntilReady(commands)
    await commands.json('verify')
  })
}

for (const [name, damage] of DAMAGES.slice(0, 2)) {
  test(`of a read model, ${name}, is a place in the report of verify, and rebuild mends it`, async ({ commands }) => {
    const file = fileIn(commands.dataDir, 'read-diamonds')
    damage(file)
    const [difference, ...others] = await differencesOf(commands)
    assert.is(difference?.where, file)
    assert.match(difference?.do ?? '', /adamant rebuild diamonds/)
    assert.is(others.length, 0)
    await commands.json('rebuild', 'diamonds')
    const verified = await commands.json('verify')
    assert.equal(verified['differences'], [])
    assert.is(putAsideIn(commands.dataDir).length, 1)
  })
}

test('of a read model is mended by rebuild alone', async ({ commands }) => {
  DAMAGES[0]?.[1](fileIn(commands.dataDir, 'read-diamonds'))
  await commands.json('rebuild', 'diamonds')
  await commands.json('verify')
})

for (const begins of ['read-models', 'read-scoring-v']) {
  test(`that begins with ${begins} is a place in the report of verify, which a start mends`, async ({ commands }) => {
    const file = fileIn(commands.dataDir, begins)
    DAMAGES[0]?.[1](file)
    assert.equal(
      (await differencesOf(commands)).map(({ where }) => where),
      [file],
    )
    await serveUntilReady(commands)
    await commands.json('verify')
  })
}

if (areEmbedded) test.run()
