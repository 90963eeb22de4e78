import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { CommandLine } from '../command-line.ts'

const test = suite<{ commands: CommandLine }>('commands in the process that a test file keeps')

test.before.each((context) => {
  context.commands = new CommandLine()
})
test.after.each(({ commands }) => commands.remove())

const ANN = 'ann@example.com'
const add = (email: string) => ['user', 'add', email, '--password-stdin']

/** Good and refused, with a stdin and without, and none that changes what the next one says. */
const COMMANDS: readonly (readonly [words: readonly string[], input?: string])[] = [
  [['--version']],
  [['user', 'list', '--json']],
  [['events']],
  [['export', '--user', ANN]],
  [['dead-letters', 'list']],
  [['user', 'list', '--colour']],
  [['no-such-command']],
  [add(ANN), 'correct horse battery\n'],
  [add('bob@example.com'), 'short\n'],
]

test('end as in a process of their own, which ends by itself', async ({ commands }) => {
  assert.is((await commands.run(add(ANN), {}, 'correct horse battery\n')).code, 0)
  for (const [words, input = ''] of COMMANDS) {
    const alone = commands.start(words)
    alone.write(input)
    assert.equal(await commands.run(words, {}, input), await alone.ended, words.join(' '))
  }
})

test('have their own settings alone', async ({ commands }) => {
  const list = ['user', 'list']
  assert.is((await commands.run(add(ANN), {}, 'correct horse battery\n')).code, 0)
  const refused = await commands.run(list, { EVENT_STORE: 'paper' })
  assert.is(refused.code, 2)
  assert.match(refused.err, 'EVENT_STORE')
  const { code, err } = await commands.run(list)
  assert.equal({ code, err }, { code: 0, err: '' })
})

test('run side by side', async ({ commands }) => {
  assert.is((await commands.run(add(ANN), {}, 'correct horse battery\n')).code, 0)
  const [list, events] = [['user', 'list'], ['events']]
  const alone = [await commands.run(list), await commands.run(events)]
  assert.equal(await Promise.all([commands.run(list), commands.run(events)]), alone)
})

test.run()
