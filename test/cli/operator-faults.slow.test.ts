import Database from 'better-sqlite3'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { explain } from '../../src/cli/failure.ts'
import { OutcomeUnknown } from '../../src/stores/ports/event-store.ts'
import { areEmbedded } from '../engines.ts'
import { smallDisk } from '../faults/small-disk.ts'
import { waitFor } from '../until.ts'
import { CommandLine, type Settings } from './command-line.ts'

type Context = { commands: CommandLine }
const test = suite<Context>('an operator error')
test.before.each((context) => {
  context.commands = new CommandLine()
})
test.after.each(({ commands }) => commands.remove())

const MASTER_KEY = randomBytes(32).toString('base64')

/** The error that `serve` prints: one line, without a stack and the password. @param code the expected exit code */
async function errorLineOf(commands: CommandLine, settings: Settings, code: number): Promise<string> {
  const started = commands.start(['serve'], settings)
  const ended = await waitFor('serve to refuse to start', started.ended)
  assert.is(ended.code, code, ended.err)
  const lines = ended.err.trim().split('\n')
  const faults = lines.filter((line) => !line.startsWith('Invalid settings; correct them in the environment'))
  assert.is(faults.length, 1, ended.err)
  assert.not.match(ended.err + ended.out, /hunter2/)
  return faults[0] ?? ''
}

for (const [parameter, message] of [
  ['tlsVerifyCert=false', /EVENT_STORE has tlsVerifyCert, which is not supported/],
  ['tlsVerfiy=true', /EVENT_STORE has tlsVerfiy, which is not a known parameter/],
  ['tlsCaFile=/nowhere/ca.pem', /EVENT_STORE names a certificate file .* that does not exist/],
] as const) {
  test(`in EVENT_STORE is reported in one line without the password: ${parameter}`, async ({ commands }) => {
    const settings = { EVENT_STORE: `esdb://ann:hunter2@127.0.0.1:1?${parameter}`, MASTER_KEY }
    assert.match(await errorLineOf(commands, settings, 2), message)
  })
}

test('in READ_MODEL is reported in one line without the password', async ({ commands }) => {
  const settings = { READ_MODEL: 'mongodb://ann:hunter2@127.0.0.1:1/adamant?journal=false' }
  assert.match(await errorLineOf(commands, settings, 2), /READ_MODEL has journal with an unsupported value/)
})

test('in MASTER_KEY is reported in one line', async ({ commands }) => {
  const first = commands.start(['serve', '--json'])
  await first.line()
  first.kill('SIGTERM')
  assert.is((await first.ended).code, 0)
  assert.match(
    await errorLineOf(commands, { MASTER_KEY }, 1),
    /was sealed with the master key [0-9a-f]+, but the key in MASTER_KEY or master\.key is/,
  )
})

test('such as a lost master.key is reported with its path, and no other key is generated', async ({ commands }) => {
  await commands.run(['client', 'add', 'tests'])
  const file = join(commands.dataDir, 'master.key')
  const key = readFileSync(file)
  rmSync(file)
  const line = await errorLineOf(commands, {}, 1)
  assert.ok(line.startsWith(`adamant: ${file} is missing: put your copy of this installation's master key there`), line)
  assert.not.ok(existsSync(file))
  writeFileSync(file, key)
  const started = commands.start(['serve', '--json'])
  await started.line()
})

test('in DATA_DIR is reported in one line', async ({ commands }) => {
  const DATA_DIR = join(commands.folder, 'file')
  writeFileSync(DATA_DIR, '')
  assert.match(await errorLineOf(commands, { DATA_DIR }, 2), /DATA_DIR must be a writable folder, got .*file/)
})

test('such as a data file of a newer release is reported in one line', async ({ commands }) => {
  await commands.run(['user', 'add', 'a@example.com', '--password-stdin'], {}, 'right horse battery\n')
  const db = new Database(join(commands.dataDir, 'events.db'))
  db.pragma('user_version = 99')
  db.close()
  assert.match(
    await errorLineOf(commands, {}, 2),
    /events.db is an event log of version 99, created by a newer release/,
  )
})

test('is a failed commit: its message is printed without a stack', () => {
  assert.is(explain(new OutcomeUnknown('the disk is full')), 'the disk is full')
})

test('is a full disk: commands say so in one line', async ({ commands }) => {
  const disk = smallDisk(join(commands.folder, 'disk'), 2_000_000)
  if (disk === undefined) return void console.log('LEFT OUT: commands on a full disk: no disk can be mounted')
  const settings = { DATA_DIR: join(commands.folder, 'disk', 'data') }
  try {
    await commands.run(['user', 'add', 'a@example.com', '--password', 'right horse'], settings)
    const server = commands.start(['serve', '--json'], settings)
    await server.line()
    const stones = join(commands.folder, 'stones.jsonl')
    const lines = Array.from({ length: 5_000 }, (_, line) => `{"sku":"A-${line}","cutShape":"round","carat":1}\n`)
    writeFileSync(stones, lines.join(''))
    disk.fill()
    const target = join(commands.folder, 'disk', 'backup')
    const results = await commands.runInTurn(
      [
        ['import', stones, '--user', 'a@example.com'],
        ['backup', target],
      ],
      settings,
    )
    for (const { code, err } of results) {
      assert.is(code, 1, err)
      assert.match(err, /^adamant: .*\bfull\b.*\n$/m, err)
      assert.not.match(err, /^ +at /m)
    }
    disk.free()
    server.kill('SIGTERM')
    await server.ended
  } finally {
    disk.remove()
  }
})

if (areEmbedded) test.run()
