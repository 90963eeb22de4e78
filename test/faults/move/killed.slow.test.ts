import { cpSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { LOG_STREAM } from '../../../src/domain/installation/read-only-state.ts'
import { openSqliteEventStore } from '../../../src/stores/sqlite/events.ts'
import { CommandLine } from '../../cli/command-line.ts'
import { copiedEvents, resultOf, SIGNALLED } from '../../cli/move/moving.ts'
import { FROM_SOURCE } from '../../from-source.ts'
import { until } from '../../until.ts'

type Context = { commands: CommandLine; folder: string; source: string; target: string }
const test = suite<Context>('a copy that is killed')

/** An installation with 20,000 stones; each test works on a copy of it. */
const filled = mkdtempSync(join(tmpdir(), 'adamant-copy-filled-'))
test.before(async () => {
  const commands = new CommandLine()
  const settings = { DATA_DIR: join(filled, 'data') }
  const file = join(filled, 'stones.csv')
  const lines = Array.from({ length: 20_000 }, (_, index) => `A-${index},Round,1`)
  writeFileSync(file, `sku,cutShape,carat\n${lines.join('\n')}\n`)
  const user = await commands.run(['user', 'add', 'a@example.com', '--password', 'right horse'], settings)
  assert.is(user.code, 0, user.err)
  const stones = await commands.run(['import', file, '--user', 'a@example.com'], settings)
  assert.is(stones.code, 0, stones.err)
  await commands.remove()
})
test.after(() => rmSync(filled, { recursive: true }))

test.before.each((context) => {
  context.commands = new CommandLine()
  context.folder = mkdtempSync(join(tmpdir(), 'adamant-copy-killed-'))
  context.source = join(context.folder, 'a')
  context.target = join(context.folder, 'b')
  cpSync(join(filled, 'data'), context.source, { recursive: true })
})
test.after.each(async ({ commands, folder }) => {
  await commands.remove()
  rmSync(folder, { recursive: true })
})

const words = ({ source, target }: Context, ...options: string[]) => [
  'move',
  '--yes',
  '--from',
  `sqlite:${source}`,
  '--to',
  `sqlite:${target}`,
  '--json',
  ...options,
]

/** Starts a copy and kills it as soon as `condition` returns true. */
async function killWhen(
  context: Context,
  description: string,
  condition: () => boolean | Promise<boolean>,
): Promise<void> {
  const started = context.commands.start(words(context))
  await until(description, condition)
  started.kill('SIGKILL')
  assert.is((await started.ended).code, null, 'the copy had ended before')
}

const isPartCopied = ({ target }: Context) => {
  const { size } = statSync(join(target, 'events.db-wal'), { throwIfNoEntry: false }) ?? { size: 0 }
  return size > 1_000_000
}

/** Asserts that the same command resumes and completes the copy. */
async function assertResumes(context: Context): Promise<void> {
  const { events } = resultOf(await context.commands.run(words(context)))
  const [source, target] = [context.source, context.target].map((folder) =>
    openSqliteEventStore(join(folder, 'events.db')),
  )
  if (source === undefined || target === undefined) throw new Error('nothing was opened')
  try {
    const copied = await copiedEvents(target)
    assert.is(copied.length, events)
    assert.equal(JSON.stringify(shown(copied)) === JSON.stringify(shown(await copiedEvents(source))), true)
    assert.is((await source.closedReason())?.why, 'fenced')
    assert.is(await target.closedReason(), undefined)
  } finally {
    await source.close()
    await target.close()
  }
}

const shown = (events: readonly { readonly revision: bigint }[]) =>
  events.map((event) => ({ ...event, revision: String(event.revision) }))

test('in the middle of the log resumes there, and its target cannot be used before', async (context) => {
  await killWhen(context, 'a part of the log', () => isPartCopied(context))
  for (const command of [['serve'], ['user', 'add', 'b@example.com', '--password', 'right horse']]) {
    const { code, err } = await context.commands.run(command, { DATA_DIR: context.target })
    assert.is(code, 1)
    assert.match(err, /is an incomplete copy of .*: run the same `adamant move` command again/)
  }
  await assertResumes(context)
})

test('after the fence resumes there, and its source rejects writes meanwhile', async (context) => {
  const { commands, source } = context
  const settings = { AT: 'source.store.append/1', SIGNAL: 'SIGKILL' }
  const { code } = await commands.start(words(context), settings, [...FROM_SOURCE, SIGNALLED]).ended
  assert.is(code, null, 'the copy had ended before')
  const sourceStore = openSqliteEventStore(join(source, 'events.db'))
  try {
    assert.is((await sourceStore.readStream(LOG_STREAM, { last: 1 })).at(-1)?.type, 'LogFenced')
    assert.is((await sourceStore.closedReason())?.why, 'fenced')
  } finally {
    await sourceStore.close()
  }
  await assertResumes(context)
})

test('can be abandoned: the source accepts writes again, and the target cannot be used', async (context) => {
  await killWhen(context, 'a part of the log', () => isPartCopied(context))
  resultOf(await context.commands.run(words(context, '--give-up')))
  const user = ['user', 'add', 'b@example.com', '--password', 'right horse']
  assert.is((await context.commands.run(user, { DATA_DIR: context.source })).code, 0)
  const repeated = await context.commands.run(words(context))
  assert.is(repeated.code, 1)
  assert.match(repeated.err, /abandoned/)
})

test.run()
