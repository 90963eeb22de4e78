import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { CommandLine } from '../command-line.ts'

const test = suite<{ commands: CommandLine }>('commands in the resident process')

test.before.each((context) => {
  context.commands = new CommandLine()
})
test.after.each(({ commands }) => commands.remove())

const ANN = 'ann@example.com'
const add = (email: string) => ['user', 'add', email, '--password-stdin']

/** Successful and failing commands, with and without stdin; none changes the output of a later one. */
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

test('have the same result as in a separate process', async ({ commands }) => {
  assert.is((await commands.run(add(ANN), {}, 'correct horse battery\n')).code, 0)
  for (const [words, input = ''] of COMMANDS) {
    const alone = commands.start(words)
    alone.write(input)
    assert.equal(await commands.run(words, {}, input), await alone.ended, words.join(' '))
  }
})

test('have only their own settings', async ({ commands }) => {
  const list = ['user', 'list']
  assert.is((await commands.run(add(ANN), {}, 'correct horse battery\n')).code, 0)
  const refused = await commands.run(list, { EVENT_STORE: 'paper' })
  assert.is(refused.code, 2)
  assert.match(refused.err, 'EVENT_STORE')
  const { code, err } = await commands.run(list)
  assert.equal({ code, err }, { code: 0, err: '' })
})

test('can run concurrently', async ({ commands }) => {
  assert.is((await commands.run(add(ANN), {}, 'correct horse battery\n')).code, 0)
  const [list, events] = [['user', 'list'], ['events']]
  const alone = [await commands.run(list), await commands.run(events)]
  assert.equal(await Promise.all([commands.run(list), commands.run(events)]), alone)
})

test.run()
