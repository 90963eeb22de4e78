import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { CommandLine, type CommandResult } from '../command-line.ts'
import { failed, formula, workbook } from './workbook-file.ts'

type Context = {
  commands: CommandLine
  sheet: (name: string, content: string | Buffer) => string
  run: (...words: string[]) => readonly string[]
}
const test = suite<Context>('import --update-by sku')
test.before.each(async (context) => {
  const commands = await CommandLine.onEngines()
  context.commands = commands
  context.sheet = (name, content) => {
    const file = join(commands.folder, name)
    writeFileSync(file, content)
    return file
  }
  context.run = (...words) => ['import', ...words, '--user', 'a@example.com', '--json']
})
test.after.each(({ commands }) => commands.remove())

const ADD = ['user', 'add', 'a@example.com', '--password', 'right horse', '--json']
const FIRST = 'sku,cutShape,carat,color,price\nA-1,Round,0.7,G,1200\nA-2,Pear,1,D,900\nA-3,Oval,2,,\n'

const resultOf = ({ out, err }: CommandResult | undefined = { code: 1, out: '', err: 'nothing ended' }) => {
  assert.ok(out !== '', err)
  return JSON.parse(out.trim().split('\n').at(-1) ?? '') as Record<string, unknown>
}
const counts = (ended: CommandResult | undefined) => {
  const { created, changed, unchanged, deleted, refused } = resultOf(ended)
  return { created, changed, unchanged, deleted, refused }
}
const none = { created: 0, changed: 0, unchanged: 0, deleted: 0, refused: 0 }

/** The printed events of diamonds: stream, type and data. */
const diamondEvents = ({ out }: CommandResult | undefined = { code: 1, out: '', err: '' }) =>
  out
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { stream: string; type: string; data: Record<string, unknown> })
    .map(({ stream, type, data }) => [stream, type, data])
const EVENTS = ['events', 'diamond-', '--json']

test('creates, changes and leaves stones; an empty cell removes the value', async ({ commands, sheet, run }) => {
  const next = 'sku,cutShape,carat,color,price\nA-1,Round,0.7,G,1200\n A-2 ,Pear,1.01,,900\nB-1,Heart,1,,\n'
  const [, first, second, third, events] = await commands.runInTurn([
    ADD,
    run(sheet('first.csv', FIRST), '--update-by', 'sku'),
    run(sheet('next.csv', next), '--update-by', 'sku'),
    run(sheet('next.csv', next), '--update-by', 'sku'),
    EVENTS,
  ])
  assert.equal(counts(first), { ...none, created: 3 })
  assert.equal(counts(second), { ...none, created: 1, changed: 1, unchanged: 1 })
  assert.equal(counts(third), { ...none, unchanged: 3 })
  assert.is(resultOf(third)['undo'], null)
  assert.match(third?.err ?? '', 'Nothing was changed; the undo file was removed')
  assert.equal(diamondEvents(events).slice(3), [
    [
      'diamond-501',
      'DiamondCreated',
      { ...(diamondEvents(events)[3]?.[2] as object), set: { sku: 'B-1', cutShape: 85, carat: 1 } },
    ],
    ['diamond-2', 'DiamondPatched', { set: { carat: 1.01 }, removed: ['color'] }],
  ])
})

test('changes only the fields that have a column, and requires more fields of new stones only', async ({
  commands,
  sheet,
  run,
}) => {
  const prices = sheet('prices.csv', 'Stock #,Total Price\nA-1,1300\nC-9,5\n')
  const [, , refused, applied, events] = await commands.runInTurn([
    ADD,
    run(sheet('first.csv', FIRST)),
    run(prices, '--update-by', 'sku'),
    run(prices, '--update-by', 'sku', '--skip-bad'),
    EVENTS,
  ])
  assert.is(refused?.code, 1)
  assert.match(
    refused?.err ?? '',
    'line 3: cutShape is required for a new diamond; carat is required for a new diamond',
  )
  assert.equal(counts(applied), { ...none, changed: 1, refused: 1 })
  assert.equal(diamondEvents(events).slice(3), [['diamond-1', 'DiamondPatched', { set: { price: 1300 }, removed: [] }]])
})

test('reports a sku that is duplicated in the file or in the inventory, and writes nothing', async (context) => {
  const { commands, sheet, run } = context
  const twice = 'sku,price\nA-1,1\nA-2,1\nA-1,2\nT-1,3\n'
  const [, , , refused, applied, events] = await commands.runInTurn([
    ADD,
    run(sheet('first.csv', FIRST)),
    run(sheet('twins.csv', 'sku,cutShape,carat\nT-1,Round,1\nT-1,Round,2\n')),
    run(sheet('twice.csv', twice), '--update-by', 'sku'),
    run(sheet('twice.csv', twice), '--update-by', 'sku', '--skip-bad'),
    EVENTS,
  ])
  assert.is(refused?.code, 1)
  assert.equal(resultOf(refused)['bad'], [
    { line: 2, problems: ['sku A-1 is duplicated in line 4'] },
    { line: 4, problems: ['sku A-1 is a duplicate of line 2'] },
    { line: 5, problems: ['sku T-1 is ambiguous: diamonds 501, 502 have it'] },
  ])
  assert.equal(counts(applied), { ...none, changed: 1, refused: 3 })
  assert.is(diamondEvents(events).length, 6)
})

test('deletes missing stones only with --delete-missing, after --yes, and not for an empty file', async (context) => {
  const { commands, sheet, run } = context
  const one = sheet('one.csv', 'sku\nA-2\n')
  const [, , dry, unconfirmed, empty, bad, done, events] = await commands.runInTurn([
    ADD,
    run(sheet('first.csv', FIRST)),
    run(one, '--update-by', 'sku', '--delete-missing', '--dry-run'),
    run(one, '--update-by', 'sku', '--delete-missing'),
    run(sheet('none.csv', 'sku\n'), '--update-by', 'sku', '--delete-missing', '--yes'),
    run(one, '--update-by', 'sku', '--delete-missing', '--skip-bad', '--yes'),
    run(one, '--update-by', 'sku', '--delete-missing', '--yes'),
    EVENTS,
  ])
  assert.equal(resultOf(dry)['would'], { created: 0, changed: 0, unchanged: 1, deleted: 2, certifications: 0 })
  assert.equal(counts(dry), none)
  assert.is(unconfirmed?.code, 2)
  assert.match(
    unconfirmed?.err ?? '',
    'Stones of a@example.com to delete, since the file does not contain them: 2. Confirm with --yes',
  )
  assert.is(empty?.code, 1)
  assert.match(empty?.err ?? '', 'The file contains no stones')
  assert.is(bad?.code, 2)
  assert.equal(counts(done), { ...none, unchanged: 1, deleted: 2 })
  assert.equal(
    diamondEvents(events)
      .slice(3)
      .map(([stream, type]) => [stream, type]),
    [
      ['diamond-1', 'DiamondDeleted'],
      ['diamond-3', 'DiamondDeleted'],
    ],
  )
})

test('keeps stones whose lines are hidden, and those whose cells failed', async ({ commands, sheet, run }) => {
  const rows = [
    ['sku', 'price'],
    ['A-1', 1300],
    ['A-2', 1],
  ]
  const filtered = await workbook({ Stock: { rows, rowDefs: new Map([[2, { hidden: true }]]) } })
  const failure = await workbook({
    Stock: [
      ['sku', 'price'],
      ['A-1', failed('#REF!')],
      ['A-3', formula('B2')],
    ],
  })
  const [, , hidden, failedCells, events] = await commands.runInTurn([
    ADD,
    run(sheet('first.csv', FIRST)),
    run(sheet('filtered.xlsx', filtered), '--update-by', 'sku', '--delete-missing', '--yes'),
    run(sheet('failed.xlsx', failure), '--update-by', 'sku'),
    EVENTS,
  ])
  assert.equal(counts(hidden), { ...none, changed: 1, deleted: 1 })
  assert.is(resultOf(hidden)['hidden'], 1)
  assert.equal(counts(failedCells), { ...none, refused: 2 })
  assert.equal(diamondEvents(events).slice(3), [
    ['diamond-1', 'DiamondPatched', { set: { price: 1300 }, removed: [] }],
    ['diamond-3', 'DiamondDeleted', {}],
  ])
})

test('leaves stones that the file calls sold as they are, also with --delete-missing', async ({
  commands,
  sheet,
  run,
}) => {
  const list = 'sku,price,Status\nA-1,1300,Available\nA-2,1,Sold\n'
  const [, , sold] = await commands.runInTurn([
    ADD,
    run(sheet('first.csv', FIRST)),
    run(sheet('list.csv', list), '--update-by', 'sku', '--delete-missing', '--yes'),
  ])
  assert.equal(counts(sold), { ...none, changed: 1, deleted: 1 })
  assert.equal(resultOf(sold)['unavailable'], { Sold: 1 })
})

test('refuses a sku that looks like that of another stone, in either direction', async ({ commands, sheet, run }) => {
  const dashed = (sku: string) => `sku,cutShape,carat\n${sku},Round,1\n`
  const [, , enDash, , hyphen, same] = await commands.runInTurn([
    ADD,
    run(sheet('first.csv', FIRST)),
    run(sheet('en-dash.csv', dashed('A\u20131')), '--update-by', 'sku'),
    run(sheet('other.csv', dashed('B\u20131'))),
    run(sheet('hyphen.csv', dashed('B-1')), '--update-by', 'sku'),
    run(sheet('same.csv', dashed('B\u20131')), '--update-by', 'sku'),
  ])
  assert.match(enDash?.err ?? '', 'line 2: sku A\u20131 (with U+2013) looks like A-1 of diamond 1')
  assert.match(hyphen?.err ?? '', 'line 2: sku B-1 looks like B\u20131 (with U+2013) of diamond')
  assert.equal(counts(same), { ...none, unchanged: 1 })
})

test('can be undone once: creations, changes and deletions', async ({ commands, sheet, run }) => {
  const next = sheet('next.csv', 'sku,cutShape,carat,color,price\nA-1,Round,0.7,,1300\nB-1,Heart,1,,\n')
  const [, , second] = await commands.runInTurn([
    ADD,
    run(sheet('first.csv', FIRST)),
    run(next, '--update-by', 'sku', '--delete-missing', '--yes'),
  ])
  assert.equal(counts(second), { ...none, created: 1, changed: 1, deleted: 2 })
  const undo = String(resultOf(second)['undo'])
  assert.is(JSON.parse(readFileSync(undo, 'utf8')).email, 'a@example.com')
  const [dry, undone, again, same, events] = await commands.runInTurn([
    ['import', '--undo', undo, '--dry-run', '--json'],
    ['import', '--undo', undo, '--json'],
    ['import', '--undo', undo, '--json'],
    run(sheet('first.csv', FIRST), '--update-by', 'sku', '--delete-missing', '--dry-run'),
    EVENTS,
  ])
  assert.equal(counts(dry), none)
  assert.equal(counts(undone), { ...none, created: 2, changed: 1, deleted: 1 })
  assert.equal(counts(again), none)
  // The inventory has exactly the stones of the first file.
  assert.equal(resultOf(same)['would'], { created: 0, changed: 0, unchanged: 3, deleted: 0, certifications: 0 })
  assert.equal(
    diamondEvents(events)
      .slice(7)
      .map(([stream, type]) => `${String(stream)} ${String(type)}`)
      .toSorted(),
    [
      'diamond-1 DiamondPatched',
      'diamond-1001 DiamondCreated',
      'diamond-1002 DiamondCreated',
      'diamond-501 DiamondDeleted',
    ],
  )
})

test('cannot be undone if a stone was changed since, and the error names the stone', async ({
  commands,
  sheet,
  run,
}) => {
  const [, imported, changed] = await commands.runInTurn([
    ADD,
    run(sheet('first.csv', FIRST)),
    run(sheet('one.csv', 'sku,price\nA-2,901\n'), '--update-by', 'sku'),
  ])
  const undo = String(resultOf(imported)['undo'])
  const [refused, second, first] = await commands.runInTurn([
    ['import', '--undo', undo, '--json'],
    ['import', '--undo', String(resultOf(changed)['undo']), '--json'],
    ['import', '--undo', undo, '--json'],
  ])
  assert.is(refused?.code, 1)
  assert.equal(counts(refused), { ...none, refused: 1 })
  assert.match(refused?.err ?? '', /diamond 2, sku A-2, was changed by operator at 20/)
  // A change that was undone does not count as a change.
  assert.equal(counts(second), { ...none, changed: 1 })
  assert.equal(counts(first), { ...none, deleted: 3 })
})

test('refuses an undo file of another installation, an invalid and a missing one', async ({ commands, sheet, run }) => {
  const [, imported] = await commands.runInTurn([ADD, run(sheet('first.csv', FIRST))])
  const undo = String(resultOf(imported)['undo'])
  const other = sheet('other.json', readFileSync(undo, 'utf8').replace(/"log":"[^"]*"/, '"log":"another"'))
  const [foreign, malformed, missing] = await commands.runInTurn([
    ['import', '--undo', other],
    ['import', '--undo', sheet('no.json', '{}')],
    ['import', '--undo', join(commands.folder, 'gone')],
  ])
  assert.is(foreign?.code, 1)
  assert.match(foreign?.err ?? '', 'belongs to another installation')
  assert.is(malformed?.code, 2)
  assert.is(missing?.code, 1)
})

test('creates nothing from the same file again, unless --again is given or all its stones were deleted', async ({
  commands,
  sheet,
  run,
}) => {
  const file = sheet('first.csv', FIRST)
  const [, first, repeated, again] = await commands.runInTurn([ADD, run(file), run(file), run(file, '--again')])
  assert.equal(counts(first), { ...none, created: 3 })
  assert.equal(counts(repeated), { ...none, unchanged: 3 })
  assert.equal(counts(again), { ...none, created: 3 })
  assert.is(readdirSync(join(commands.dataDir, 'undo')).length, 2)
  const undo = (ended: CommandResult | undefined) => ['import', '--undo', String(resultOf(ended)['undo']), '--json']
  const [, , repeatedLater] = await commands.runInTurn([undo(first), undo(again), run(file)])
  assert.equal(counts(repeatedLater), { ...none, created: 3 })
})

test('lists custom cut shapes, and refuses those that are similar to a standard one', async (context) => {
  const { commands, sheet, run } = context
  const shapes = 'sku,cutShape,carat\nA,Trilliant,1\nB,Trilliant,1\nC,Rose cut,1\nD,Round,1\n'
  const [, accepted, refused] = await commands.runInTurn([
    ADD,
    run(sheet('shapes.csv', shapes)),
    run(sheet('near.csv', 'sku,cutShape,carat\nA,Rouund,1\nB,Princes,1\n')),
  ])
  assert.match(accepted?.err ?? '', 'unknown cut shapes, stored as written: Trilliant (2), Rose cut (1)')
  assert.equal(resultOf(accepted)['ownShapes'], { Trilliant: 2, 'Rose cut': 1 })
  assert.is(refused?.code, 1)
  assert.match(refused?.err ?? '', /line 2: .*did you mean Round\?/)
  assert.match(refused?.err ?? '', /line 3: .*did you mean Princess\?/)
})

test.run()
