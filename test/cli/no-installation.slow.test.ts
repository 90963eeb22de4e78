import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { CommandLine, type CommandResult } from './command-line.ts'

type Context = { commands: CommandLine }
const test = suite<Context>('a command without an installation')
test.before.each((context) => {
  context.commands = new CommandLine()
})
test.after.each(({ commands }) => commands.remove())

/** Commands that read or change an existing installation. */
const COMMANDS = [
  ['status'],
  ['events'],
  ['audit', 'secret', 'a'.repeat(64)],
  ['dead-letters', 'list', 'diamonds'],
  ['dead-letters', 'retry', 'diamonds'],
  ['rescore'],
  ['user', 'list'],
  ['user', 'plan', 'a@example.com', 'pro'],
  ['user', 'password', 'a@example.com', '--password', 'right horse'],
  ['user', 'disable', 'a@example.com'],
  ['client', 'list'],
  ['client', 'rotate', '1_x'],
  ['token', 'list'],
  ['token', 'add', 'a@example.com'],
  ['import', 'stones.csv', '--user', 'a@example.com'],
  ['export', '--user', 'a@example.com'],
]

test('ends with 2 and a message, and creates no installation', async ({ commands }) => {
  const ended = await commands.runInTurn(COMMANDS)
  const err = `adamant: no installation in ${commands.dataDir}: set DATA_DIR to its folder\n`
  for (const [index, result] of ended.entries())
    assert.equal(result, { code: 2, out: '', err }, COMMANDS[index]?.join(' '))
  assert.not.ok(existsSync(commands.dataDir))
})

/** Runs the program in a folder, with the defaults of all settings but the log level. */
function runIn(cwd: string, words: readonly string[]): Promise<CommandResult> {
  const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
  const env = { PATH: process.env['PATH'] ?? '', LOG_LEVEL: 'warn' }
  return new Promise((done) => {
    const child = execFile(process.execPath, [program, ...words], { cwd, env, encoding: 'utf8' }, (_, out, err) => {
      done({ code: child.exitCode, out, err })
    })
  })
}

test('refuses to create a second installation if ./data, the former default, has one', async ({ commands }) => {
  assert.is((await runIn(commands.folder, ['user', 'add', 'a@example.com', '--password', 'right horse'])).code, 0)
  renameSync(join(commands.folder, 'adamant-data'), join(commands.folder, 'data'))
  for (const words of [['serve'], ['status'], ['user', 'add', 'b@example.com', '--password', 'right horse']]) {
    const { code, err } = await runIn(commands.folder, words)
    assert.is(code, 2, err)
    assert.match(err, /set DATA_DIR=\.\/data, or move its files/)
  }
  assert.not.ok(existsSync(join(commands.folder, 'adamant-data')))
})

test('creates ./adamant-data if ./data is no installation', async ({ commands }) => {
  mkdirSync(join(commands.folder, 'data'))
  assert.is((await runIn(commands.folder, ['user', 'add', 'a@example.com', '--password', 'right horse'])).code, 0)
  assert.ok(existsSync(join(commands.folder, 'adamant-data', 'events.db')))
})

test.run()
