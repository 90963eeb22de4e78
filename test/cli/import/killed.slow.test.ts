import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { rounds } from '../../rounds.ts'
import { until } from '../../until.ts'
import { CommandLine, type RunningProgram } from '../command-line.ts'

const test = suite<{ commands: CommandLine }>('an import whose process is killed')
test.before.each((context) => {
  context.commands = new CommandLine()
})
test.after.each(({ commands }) => commands.remove())

test('is completed by the same command, and is undone by the undo file of the killed run', async ({ commands }) => {
  const many = rounds(5_000, 20_000)
  const file = join(commands.folder, 'stones.csv')
  const rows = Array.from({ length: many }, (_, n) => `S-${n},Round,1\n`)
  writeFileSync(file, `sku,cutShape,carat\n${rows.join('')}`)
  await commands.json('user', 'add', 'a@example.com', '--password', 'right horse')
  const words = ['import', file, '--user', 'a@example.com', '--json']
  const first = commands.start(words)
  const undo = await undoFileOf(first)
  first.kill('SIGKILL')
  await first.ended

  const { created, unchanged } = await commands.json(...words.slice(0, -1))
  assert.is(Number(created) + Number(unchanged), many)
  const [exported, undone, remaining] = await commands.runInTurn([
    ['export', '--user', 'a@example.com'],
    ['import', '--undo', undo, '--json'],
    ['export', '--user', 'a@example.com'],
  ])
  const skus = (exported?.out ?? '')
    .trim()
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(',')[1])
  assert.is(skus.length, many)
  assert.is(new Set(skus).size, many)
  assert.is(JSON.parse(undone?.out ?? '{}').deleted, many)
  assert.is(remaining?.out.trim().split('\r\n').length, 1)
})

/** The undo file, whose name is printed before the first change. */
async function undoFileOf(started: RunningProgram): Promise<string> {
  const undoFile = () => /^undo file: (.*)$/m.exec(started.stderr)?.[1]
  await until('the undo file', () => undoFile() !== undefined)
  return undoFile() ?? ''
}

test.run()
