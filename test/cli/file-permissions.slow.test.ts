import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { retryIfRenamed } from '../renamed-files.ts'
import { CommandLine } from './command-line.ts'

type Context = { commands: CommandLine }
const test = suite<Context>('the files of an installation')
test.before.each((context) => {
  context.commands = new CommandLine()
})
test.after.each(({ commands }) => commands.remove())

/** The paths below a folder that the group or others have any permission on. */
function filesReadableByOthers(folder: string): string[] {
  return retryIfRenamed(() =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (path) => (statSync(join(folder, path)).mode & 0o077) !== 0,
    ),
  )
}

test('are accessible to their owner only, also in a folder that others can enter', async ({ commands }) => {
  const before = process.umask(0o022)
  try {
    mkdirSync(commands.dataDir, { mode: 0o755 })
    const server = commands.start(['serve', '--json'])
    const { url } = JSON.parse(await server.line()) as { url: string }
    assert.is((await fetch(`${url}/health/ready`)).status, 200)
    await commands.json('user', 'add', 'a@example.com', '--password', 'right horse')
    assert.ok(readdirSync(commands.dataDir).includes('master.key'))
    assert.equal(filesReadableByOthers(commands.dataDir), [])
    server.kill('SIGTERM')
    assert.not.match((await server.ended).err, /can read/)
  } finally {
    process.umask(before)
  }
})

test('are listed in a warning at the start if others can read them, with the command that corrects it', async ({
  commands,
}) => {
  await commands.json('user', 'add', 'a@example.com', '--password', 'right horse')
  for (const name of ['master.key', 'events.db']) chmodSync(join(commands.dataDir, name), 0o644)
  const server = commands.start(['serve', '--json'])
  await server.line()
  server.kill('SIGTERM')
  const { err } = await server.ended
  const [warning = '', ...others] = err.split('\n').filter((line) => line.includes('can read'))
  assert.match(warning, /events\.db, master\.key/)
  assert.match(warning, /chmod -R go= /)
  assert.equal(others, [])
})

test.run()
