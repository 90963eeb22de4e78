import Database from 'better-sqlite3'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { randomUUID } from 'node:crypto'
import type { NewEvent, Revision } from '../../../src/stores/ports/event-store.ts'
import { readSettings } from '../../../src/wiring/settings.ts'
import { openInstallation } from '../../../src/wiring/open-installation.ts'
import { areEmbedded, enginesFor } from '../../engines.ts'
import { CommandLine, type CommandResult } from '../command-line.ts'

type Context = { commands: CommandLine }
const test = suite<Context>('events')
test.before.each(async (context) => {
  context.commands = await CommandLine.onEngines()
  await context.commands.json('user', 'add', 'ann@example.com', '--password', 'right horse')
})
test.after.each(({ commands }) => commands.remove())

const AT = '2026-11-22T10:00:0'

const patched = (second: number, more: Partial<NewEvent['metadata']> = {}, data: object = {}): NewEvent => ({
  id: randomUUID(),
  type: 'DiamondPatched',
  data: { set: { price: second }, removed: [], ...data },
  metadata: {
    actor: 'account-1',
    via: 'http',
    $correlationId: `request-${second}`,
    schema: '1',
    at: `${AT}${second}.500Z`,
    ...more,
  } as NewEvent['metadata'],
})

/** Appends events directly to the store of the installation. */
async function append({ commands }: Context, stream: string, expected: Revision, events: readonly NewEvent[]) {
  const settings = { DATA_DIR: commands.dataDir, ...(await enginesFor(commands.dataDir)) }
  const installation = await openInstallation(readSettings(settings))
  await installation.store.append(stream, expected, events)
  await installation.close()
}

function resultAt(ended: readonly CommandResult[], index: number): CommandResult {
  const found = ended[index]
  if (found === undefined) throw new Error(`command ${index} did not run`)
  return found
}

type Line = Record<string, unknown> & { stream: string; type: string; data: Record<string, unknown> }
const linesOf = (out: string) =>
  out
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line)

test('are filtered by stream, prefix, type, time, actor and correlation, alone and combined', async (context) => {
  const { commands } = context
  await append(context, 'diamond-1', 'none', [patched(1), patched(2), patched(3, { actor: 'account-2' })])
  await append(context, 'diamond-10', 'none', [patched(4)])
  await append(context, 'scores-1', 'none', [patched(5, { actor: 'scoring', $correlationId: 'request-4' })])
  const cases: readonly (readonly [words: string[], seconds: number[]])[] = [
    [['diamond-1'], [1, 2, 3]],
    [['diamond-'], [1, 2, 3, 4]],
    [
      ['--prefix', 'diamond-', 'scores-'],
      [1, 2, 3, 4, 5],
    ],
    [
      ['--type', 'DiamondPatched', 'DiamondDeleted'],
      [1, 2, 3, 4, 5],
    ],
    [['diamond-1', '--type', 'DiamondDeleted'], []],
    [
      ['diamond-', '--since', `${AT}2Z`],
      [2, 3, 4],
    ],
    [
      ['diamond-', '--since', `${AT}2Z`, '--until', `${AT}3Z`],
      [2, 3],
    ],
    [
      ['diamond-', '--until', '2026-11-22T12:00:02+02:00'],
      [1, 2],
    ],
    [['--actor', 'account-2', '--prefix', 'diamond-'], [3]],
    [['--actor', '2', '--prefix', 'diamond-'], [3]],
    [['--actor', '', '--prefix', 'diamond-'], []],
    [
      ['--actor', 'ann@example.com', '--prefix', 'diamond-'],
      [1, 2, 4],
    ],
    [
      ['--correlation', 'request-4'],
      [4, 5],
    ],
    [['--correlation', 'request-4', '--actor', 'scoring'], [5]],
  ]
  const ended = await commands.runInTurn(cases.map(([words]) => ['events', ...words, '--json']))
  for (const [index, [words, seconds]] of cases.entries()) {
    const { code, out, err } = resultAt(ended, index)
    assert.is(code, 0, err)
    const found = linesOf(out).map(({ data }) => (data['set'] as { price: number }).price)
    assert.equal(found, seconds, words.join(' '))
  }
})

test('are printed as lines of JSON with the specified members, or as a table with headings', async ({ commands }) => {
  const [json, table, none, trace] = await commands.runInTurn([
    ['events', 'account-1', '--json'],
    ['events', 'account-1'],
    ['events', 'account-7'],
    ['events', '--trace', 'zz'],
  ])
  const [line] = linesOf(json?.out ?? '')
  assert.equal(
    ['position', 'stream', 'revision', 'id', 'type', 'at', 'data', 'metadata'].filter(
      (name) => !(name in (line ?? {})),
    ),
    [],
  )
  assert.is('undecoded' in (line ?? {}), false)
  const [headings, row] = table?.out.split('\n') ?? []
  assert.match(headings ?? '', /^position +at +stream +type +who +data/)
  assert.match(row ?? '', /account-1@0 +AccountRegistered +operator via cli +\{"password":"\(not shown\)"/)
  assert.equal([none?.code, none?.out], [0, ''])
  assert.match(none?.err ?? '', 'No events match')
  assert.is(trace?.code, 2)
  assert.match(trace?.err ?? '', '32 hexadecimal digits')
})

test('that this release cannot decode are marked, and stay in their place', async (context) => {
  const { commands } = context
  const strange = { ...patched(4), type: 'DiamondPolished', data: { recipe: 'unknown to this release' } }
  await append(context, 'diamond-1', 'none', [
    patched(1),
    patched(2, { schema: '99' }, { secretThing: 'x' }),
    patched(3, {}, { set: { price: 'dear' } }),
    strange,
  ])
  const [json, table] = await commands.runInTurn([
    ['events', 'diamond-1', '--json'],
    ['events', 'diamond-1'],
  ])
  const lines = linesOf(json?.out ?? '')
  assert.equal(
    lines.map(({ revision, type }) => `${String(revision)} ${type}`),
    ['0 DiamondPatched', '1 DiamondPatched', '2 DiamondPatched', '3 DiamondPolished'],
  )
  const [whole, newer, broken, unknown] = lines
  assert.is(whole?.['undecoded'], undefined)
  assert.match(String(newer?.['undecoded']), /has schema 99; this release reads up to/)
  assert.equal(newer?.data, { set: '(not shown)', removed: '(not shown)', secretThing: '(not shown)' })
  assert.match(String(broken?.['undecoded']), /set\.price/)
  assert.equal(broken?.data, { set: { price: 'dear' }, removed: [] })
  assert.match(String(unknown?.['undecoded']), /has an event type that this release does not know/)
  assert.equal(unknown?.data, { recipe: '(not shown)' })
  assert.equal([...(table?.out ?? '').matchAll(/NOT DECODED/g)].length, 3)
})

test('with an unknown type, an invalid time or conflicting options end with 2', async ({ commands }) => {
  const cases: readonly (readonly [words: string[], message: RegExp])[] = [
    [['--type', 'DiamondCraeted'], /Unknown event type. Did you mean: DiamondCreated/],
    [['--type', 'DiamondCreated', 'Scored'], /Did you mean: DiamondScored/],
    [['--since', 'yesterday'], /It must be a time such as/],
    [['diamond-1', '--prefix', 'scores-'], /not both/],
    [['--follow', '--until', '2026-11-22'], /--follow cannot be combined with --until/],
    [['--from', 'x'], /a position as printed by `events`/],
  ]
  const ended = await commands.runInTurn(cases.map(([words]) => ['events', ...words]))
  for (const [index, [words, message]] of cases.entries()) {
    const { code, out, err } = resultAt(ended, index)
    assert.is(code, 2, words.join(' '))
    assert.match(err, message)
    assert.is(out, '')
  }
})

test('of an unknown account end with 1', async ({ commands }) => {
  const { code, err } = await commands.run(['events', '--actor', 'bob@example.com'])
  assert.is(code, 1)
  assert.match(err, 'There is no account bob@example.com')
})

test('that another process writes are followed, filtered by prefix', async ({ commands }) => {
  const following = commands.start(['events', '--prefix', 'account-', '--follow', '--json'])
  await following.line()
  await commands.json('user', 'add', 'bob@example.com', '--password', 'right horse')
  const event = JSON.parse(await following.line((line) => line.includes('"stream":"account-2"'))) as Line
  assert.equal([event.stream, event.type], ['account-2', 'AccountRegistered'])
  following.kill('SIGINT')
  const { code, out } = await following.ended
  assert.is(code, 0)
  assert.ok(linesOf(out).every(({ stream }) => stream.startsWith('account-')))
})

test('have their types listed with their schemas, also without an installation', async ({ commands }) => {
  const bare = { DATA_DIR: `${commands.folder}/nowhere` }
  const [all, some, ...refused] = await commands.runInTurn(
    [
      ['events', '--schema', '--json'],
      ['events', '--schema', '--type', 'DiamondDeleted', 'DiamondScored'],
      ['events', '--schema', 'diamond-7'],
      ['events', '--schema', '--follow'],
      ['events', '--schema', '--type', 'DiamondSored'],
    ],
    bare,
  )
  type Catalogued = { type: string; schema: { properties: Record<string, unknown> } }
  const { events } = JSON.parse(all?.out ?? '') as { events: Catalogued[] }
  assert.ok(events.length > 40)
  assert.is(all?.out.trim().split('\n').length, 1)
  const two = JSON.parse(some?.out ?? '') as { events: Catalogued[] }
  assert.equal(
    two.events.map(({ type, schema }) => [type, Object.keys(schema.properties)]),
    [
      ['DiamondDeleted', []],
      ['DiamondScored', ['id', 'revision', 'scores']],
    ],
  )
  assert.equal(
    refused.map(({ code, err }) => [code, /remove diamond-7|remove --follow|Did you mean: DiamondScored/.test(err)]),
    [
      [2, true],
      [2, true],
      [2, true],
    ],
  )
})

test('of a log with a corrupt event are still printed, with an error that names the corrupt one', async (context) => {
  if (!areEmbedded) return
  const { commands } = context
  await append(context, 'diamond-1', 'none', [patched(1), patched(2), patched(3)])
  await append(context, 'diamond-2', 'none', [patched(4)])
  const db = new Database(join(commands.dataDir, 'events.db'))
  db.exec("UPDATE events SET data = replace(data, '}', ']') WHERE stream = 'diamond-1' AND revision = 1")
  const position = db.prepare("SELECT position FROM events WHERE stream = 'diamond-1' AND revision = 1").pluck().get()
  db.close()
  const [stream, all, others] = await commands.runInTurn([
    ['events', 'diamond-1', '--json'],
    ['events', '--prefix', 'diamond-', '--json'],
    ['events', 'diamond-2', '--json'],
  ])
  const printed = (ended: typeof stream) =>
    ended?.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { stream: string; revision: number })
      .map((event) => `${event.stream}@${event.revision}`)
  assert.equal(printed(stream), ['diamond-1@0', 'diamond-1@2'])
  assert.equal(printed(all), ['diamond-1@0', 'diamond-1@2', 'diamond-2@0'])
  for (const ended of [stream, all]) {
    assert.is(ended?.code, 1)
    const [first, last] = (ended?.err ?? '').trim().split('\n')
    assert.is(first, `diamond-1@1, at position ${String(position)}, is corrupt: its data or metadata is not valid JSON`)
    assert.match(last ?? '', /^adamant: 1 event could not be read; run adamant verify/)
  }
  assert.equal(printed(others), ['diamond-2@0'])
  assert.is(others?.code, 0)
})

test.run()
