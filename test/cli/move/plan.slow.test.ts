import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { CommandLine } from '../command-line.ts'

type Context = { commands: CommandLine; from: string; to: string }
const test = suite<Context>('move')
test.before.each(async (context) => {
  context.commands = new CommandLine()
  context.from = `sqlite:${context.commands.dataDir}`
  context.to = `sqlite:${context.commands.folder}/target`
  await context.commands.json('user', 'add', 'a@example.com', '--password', 'right horse')
})
test.after.each(({ commands }) => commands.remove())

const wordsOf = ({ from, to }: Context, ...others: string[]) => ['move', '--from', from, '--to', to, ...others]
const isMoved = async ({ commands }: Context) => {
  const { code } = await commands.run(['user', 'add', 'b@example.com', '--password', 'right horse'])
  return code !== 0
}

test('without a terminal requires --yes and otherwise changes nothing', async (context) => {
  const { code, err } = await context.commands.run(wordsOf(context))
  assert.is(code, 2)
  assert.match(err, 'move makes its source read-only permanently: confirm with --yes, or show the plan with --dry-run')
  assert.not.ok(existsSync(`${context.commands.folder}/target`))
  assert.not.ok(await isMoved(context))
})

test('shows its plan with --dry-run, and changes nothing', async (context) => {
  const { from, to, commands } = context
  const { code, out } = await commands.run(wordsOf(context, '--dry-run'))
  assert.is(code, 0)
  assert.match(out, 'makes the source read-only permanently')
  assert.match(out, to)
  const plan = await commands.json(...wordsOf(context, '--dry-run'))
  assert.equal({ ...plan, events: 0 }, { events: 0, files: 0, secrets: 0, mails: 0, from, to, dryRun: true })
  assert.ok(Number(plan['events']) >= 3)
  assert.not.ok(existsSync(`${commands.folder}/target`))
  assert.not.ok(await isMoved(context))
})

test('with --yes prints its plan first, and the result names source and target', async (context) => {
  const { from, to, commands } = context
  const { code, out, err } = await commands.run(wordsOf(context, '--yes', '--json'))
  assert.is(code, 0, err)
  assert.match(err, 'This moves an installation, and makes the source read-only permanently')
  const { secrets, files, ...result } = JSON.parse(out) as Record<string, unknown>
  assert.equal([result['from'], result['to'], files, secrets], [from, to, 0, 0])
  assert.ok(await isMoved(context))
})

test('has no alias by its former name copy', async ({ commands, from, to }) => {
  assert.is((await commands.run(['copy', '--from', from, '--to', to])).code, 2)
})

/** script of util-linux runs a command on a pseudo-terminal. */
const hasTerminal = spawnSync('script', ['--version']).status === 0
if (!hasTerminal) console.log('LEFT OUT: asking on a terminal; script of util-linux is not here')

async function onTerminal({ commands }: Context, words: readonly string[], answer: string): Promise<string> {
  const program = fileURLToPath(new URL('../../../dist/main.js', import.meta.url))
  const command = [process.execPath, program, ...words].map((word) => `'${word}'`).join(' ')
  const env = { PATH: process.env['PATH'] ?? '', SHELL: '/bin/sh', TERM: 'dumb', LOG_LEVEL: 'warn' }
  const child = spawn('script', ['-qec', command, '/dev/null'], { cwd: commands.folder, env, stdio: 'pipe' })
  let sent = false
  child.stdout.on('data', (chunk: Buffer) => {
    if (sent || !chunk.includes('Continue?')) return
    sent = true
    child.stdin.write(`${answer}\n`)
  })
  return text(child.stdout)
}

if (hasTerminal) {
  test('asks on a terminal, and continues only after yes', async (context) => {
    assert.match(await onTerminal(context, wordsOf(context), 'n'), 'Cancelled; nothing was moved')
    assert.not.ok(await isMoved(context))
    assert.match(await onTerminal(context, wordsOf(context), 'yes'), 'Start the service on sqlite:')
    assert.ok(await isMoved(context))
  })
}

test.run()
