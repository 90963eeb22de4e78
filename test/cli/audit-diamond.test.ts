import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { color } from '../../src/domain/dictionaries/colors.ts'
import type { HistoryEntry } from '../../src/projections/history/history-entry.ts'
import { openStores } from '../open-stores.ts'
import { CommandLine } from './command-line.ts'

type Context = { commands: CommandLine }
const test = suite<Context>('the audit of a diamond')
test.before.each(async (context) => {
  context.commands = await CommandLine.onEngines()
  await context.commands.json('user', 'add', 'ann@example.com', '--password', 'right horse')
  const file = join(context.commands.folder, 'stones.csv')
  writeFileSync(file, 'sku,cutShape,carat,color\nA-1,Round,1,E\n')
  await context.commands.json('import', file, '--user', 'ann@example.com')
})
test.after.each(({ commands }) => commands.remove())

const colorIdOf = (name: string) => color.all.find(({ title: one }) => one === name)?.id

const patched = (at: string, data: object, more: object = {}) => ({
  id: randomUUID(),
  type: 'DiamondPatched',
  data: { set: {}, removed: [], ...data },
  metadata: { actor: 'account-1', via: 'http', $correlationId: 'asked', schema: '1', at, ...more },
})

async function append({ commands }: Context, events: readonly ReturnType<typeof patched>[]): Promise<void> {
  const { store, close } = await openStores(commands.dataDir)
  await store.append('diamond-1', 0n, events)
  await close()
}

/** Later than the events that the command line has just written: times never decrease within a stream. */
const [TEN, ELEVEN, NOON] = ['2099-01-01T10:00:00.500Z', '2099-01-01T11:00:00.000Z', '2099-01-01T12:00:00.000Z']

test('shows for each change its account, time, client and the old and new values', async (context) => {
  await append(context, [
    patched(TEN, { set: { price: 7, color: colorIdOf('F') } }, { client: '1_gone' }),
    patched(ELEVEN, { removed: ['price'] }),
  ])
  const [json, text] = await context.commands.runInTurn([
    ['audit', 'diamond', '1', '--json'],
    ['audit', 'diamond', 'diamond-1'],
  ])
  const entries = JSON.parse(json?.out ?? '') as HistoryEntry[]
  assert.equal(
    entries.map(({ stream, revision, type, by }) => [stream, revision, type, by?.account ?? null, by?.via]),
    [
      ['diamond-1', 0, 'created', null, 'cli'],
      ['diamond-1', 1, 'changed', 'ann@example.com', 'http'],
      ['diamond-1', 2, 'changed', 'ann@example.com', 'http'],
    ],
  )
  assert.equal(entries[2]?.changes, [{ field: 'price', from: 7, to: null }])
  assert.is(entries[1]?.at, '2099-01-01T10:00:00+00:00')
  assert.match(text?.out ?? '', /changed\s+ann@example\.com through 1_gone via http\s+asked\s+price: - -> 7\n/)
  assert.match(text?.out ?? '', /operator \S.* via cli/)
  assert.match(text?.out ?? '', /color: E -> F/)
})

test('shows the state at a time, and the changes between two times', async (context) => {
  await append(context, [patched(TEN, { set: { price: 7 } }), patched(NOON, { set: { price: 8, carat: 2 } })])
  const [at, diff, before, both] = await context.commands.runInTurn([
    ['audit', 'diamond', '1', '--at', '2099-01-01T10:00:00Z', '--json'],
    ['audit', 'diamond', '1', '--diff', '2099-01-01T10:00Z', '2099-01-01T12:00Z', '--json'],
    ['audit', 'diamond', '1', '--at', '2000-01-01', '--json'],
    ['audit', 'diamond', '1', '--at', '2000-01-01', '--diff', '2000-01-01', '2001-01-01'],
  ])
  const state = JSON.parse(at?.out ?? '') as { at: string; state: Record<string, unknown> }
  assert.is(state.at, '2099-01-01T10:00:00+00:00')
  assert.is(state.state['price'], 7)
  assert.is(state.state['cutShape'], 'Round')
  assert.is(state.state['carat'], 1)
  assert.equal(JSON.parse(diff?.out ?? ''), {
    from: '2099-01-01T10:00:59+00:00',
    to: '2099-01-01T12:00:59+00:00',
    changes: [
      { field: 'price', from: 7, to: 8 },
      { field: 'carat', from: 1, to: 2 },
    ],
  })
  assert.is((JSON.parse(before?.out ?? '') as typeof state).state, null)
  assert.is(both?.code, 2)
})

test('shows events that cannot be decoded with the reason, and the events after them', async (context) => {
  await append(context, [
    patched(TEN, { set: { colour: 'nonsense', carat: 'heavy' } }),
    patched(ELEVEN, {}, { schema: '999' }),
    patched(NOON, { set: { price: 9 } }),
  ])
  const [json, text] = await context.commands.runInTurn([
    ['audit', 'diamond', '1', '--json'],
    ['audit', 'diamond', '1'],
  ])
  const entries = JSON.parse(json?.out ?? '') as HistoryEntry[]
  assert.equal(
    entries.map(({ type, revision, undecoded }) => [type, revision, undecoded !== undefined]),
    [
      ['created', 0, false],
      ['DiamondPatched', 1, true],
      ['DiamondPatched', 2, true],
      ['changed', 3, false],
    ],
  )
  assert.equal(entries[3]?.changes, [{ field: 'price', from: null, to: 9 }])
  assert.match(text?.out ?? '', /cannot be decoded: .*carat/)
  assert.match(text?.out ?? '', /cannot be decoded: .*schema 999/)
})

test('rejects an invalid id, and one that never existed', async ({ commands }) => {
  const [none, wrong] = await commands.runInTurn([
    ['audit', 'diamond', '2'],
    ['audit', 'diamond', 'A-1'],
  ])
  assert.is(none?.code, 1)
  assert.match(none?.err ?? '', /No diamond 2 has ever existed/)
  assert.is(wrong?.code, 2)
  assert.match(wrong?.err ?? '', /id: must be a diamond id such as 7, got A-1/)
})

test.run()
