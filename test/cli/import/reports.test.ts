import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { zipFile } from '../../trade-files/zip-file.ts'
import { CommandLine, type CommandResult } from '../command-line.ts'

type Context = {
  commands: CommandLine
  /** The words of an import by sku of a sheet with these lines. */
  importOf: (name: string, content: string | Buffer, ...words: string[]) => readonly string[]
}
const test = suite<Context>('reports and proportions from sheets')
test.before.each(async (context) => {
  const commands = await CommandLine.onEngines()
  context.commands = commands
  context.importOf = (name, content, ...words) => {
    const file = join(commands.folder, name)
    writeFileSync(file, content)
    return ['import', file, '--user', 'a@example.com', '--json', ...words]
  }
})
test.after.each(({ commands }) => commands.remove())

const BY_SKU = ['--update-by', 'sku']
const ADD = ['user', 'add', 'a@example.com', '--password', 'right horse', '--json']
const HEADER = 'Stock #,Shape,Weight,Lab,Certificate #,Measurements,Depth %,Table %,Crown Angle\n'
const FIRST = `${HEADER}A-1,Round,1.01,GIA,6201947735,6.41-6.44*3.98,61.9,57%,34.5
A-2,Round,1.02,IGI,LG700112233,6.44 x 6.41 x 3.98,0,,
A-3,Oval,1,EGL,1234,,640,60,
`
/** Another report, none, and one of a known laboratory; another table. */
const SECOND = `${HEADER}A-1,Round,1.01,GIA,GIA 6201-947-735,6.41-6.44*3.98,61.9,58,34.5
A-2,Round,1.02,,,6.44 x 6.41 x 3.98,0,,
A-3,Oval,1,HRD,9,,640,60,
`
const THIRD = SECOND.replace('GIA 6201-947-735', '6200000001')

const resultOf = ({ out, err }: CommandResult | undefined = { code: 1, out: '', err: 'nothing ended' }) => {
  assert.ok(out !== '', err)
  return JSON.parse(out.trim().split('\n').at(-1) ?? '') as Record<string, unknown>
}
const countsOf = (ended: CommandResult | undefined) => {
  const { created, changed, unchanged, deleted, certifications } = resultOf(ended)
  return [created, changed, unchanged, deleted, certifications]
}
const wouldOf = (ended: CommandResult | undefined) => {
  const { created, changed, unchanged, deleted, certifications } = resultOf(ended)['would'] as Record<string, number>
  return [created, changed, unchanged, deleted, certifications]
}

type PrintedEvent = { readonly stream: string; readonly type: string; readonly data: Record<string, unknown> }

const eventsOf = ({ out }: CommandResult | undefined = { code: 1, out: '', err: '' }): PrintedEvent[] =>
  out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as PrintedEvent)

/** Certifications as `SKU LABORATORY NUMBER`, in the order of the stones. */
function reportsOf(ended: CommandResult | undefined): string[] {
  const skus = new Map<string, string>()
  const reports = new Map<unknown, string>()
  for (const { stream, type, data } of eventsOf(ended)) {
    if (type === 'DiamondCreated') skus.set(stream, String((data['set'] as { sku: string }).sku))
    if (type === 'CertificationAttached')
      reports.set(data['id'], `${skus.get(stream)} ${String(data['laboratory'])} ${String(data['number'])}`)
    if (type === 'CertificationRemoved') reports.delete(data['id'])
  }
  return [...reports.values()].toSorted()
}
const EVENTS = ['events', 'diamond-', '--json']
const FIRST_REPORTS = ['A-1 GIA 6201947735', 'A-2 IGI LG700112233']

test('have their PDFs if they come in an archive with the sheet', async ({ commands, importOf }) => {
  const entries = [
    { name: 'first.csv', content: FIRST },
    { name: 'A-1.pdf', content: '%PDF-1.7\n%%EOF' },
    { name: 'B-9.pdf', content: '%PDF-1.7\n%1\n%%EOF' },
  ]
  const [, imported, events, verified] = await commands.runInTurn([
    ADD,
    importOf('first.zip', zipFile(entries)),
    EVENTS,
    ['verify', '--json'],
  ])
  assert.equal(countsOf(imported), [3, 0, 0, 0, 2])
  assert.match(imported?.err ?? '', 'PDFs that belong to a line: 1 of 2')
  assert.match(imported?.err ?? '', 'left out, since no valid line has their sku or report number: B-9.pdf (1)')
  const files = eventsOf(events).filter(({ type }) => type === 'CertificationAttached')
  assert.equal(
    files.map(({ data }) => (data['file'] as { name: string } | null)?.name),
    ['A-1.pdf', undefined],
  )
  assert.is(resultOf(verified)['files'], 1)
})

test('are stored with new stones, and what is unknown is noted and left out', async ({ commands, importOf }) => {
  const [, dry, imported, events] = await commands.runInTurn([
    ADD,
    importOf('first.csv', FIRST, '--dry-run'),
    importOf('first.csv', FIRST),
    EVENTS,
  ])
  assert.equal(wouldOf(dry), [3, 0, 0, 0, 2])
  const [sample] = resultOf(dry)['first'] as [Record<string, unknown>]
  assert.equal([sample['certification.laboratory'], sample['certification.number']], ['GIA', '6201947735'])
  assert.equal(countsOf(imported), [3, 0, 0, 0, 2])
  assert.equal(reportsOf(events), FIRST_REPORTS)
  const [first] = eventsOf(events)
  assert.equal(first?.data['set'], {
    sku: 'A-1',
    cutShape: 2,
    carat: 1.01,
    'proportions.length': 6.44,
    'proportions.width': 6.41,
    'proportions.height': 3.98,
    'proportions.table': 57,
    'proportions.depth': 61.9,
    'proportions.crownAngle': 34.5,
  })
  assert.equal(resultOf(imported)['notes'], {
    'Certificate # LG... is stored as laboratory-grown': 1,
    'no report is attached: EGL is not one of GIA, AGS, HRD, IGI, IIDGR, GCAL': 1,
    'proportions.depth: nothing is stored where it is not a number of at least 30 and at most 110': 1,
  })
  assert.equal(resultOf(imported)['mapping'], {
    'Stock #': 'sku',
    Shape: 'cutShape',
    Weight: 'carat',
    Lab: 'certification.laboratory',
    'Certificate #': 'certification.number',
    Measurements: 'measurements',
    'Depth %': 'proportions.depth',
    'Table %': 'proportions.table',
    'Crown Angle': 'proportions.crownAngle',
  })
  assert.match(imported?.err ?? '', 'at least 30 and at most 110 (line 4)')
})

test('by sku: the same pair changes nothing, another one or none replaces it', async ({ commands, importOf }) => {
  const [, , again, prices, dry, second, third, events] = await commands.runInTurn([
    ADD,
    importOf('first.csv', FIRST, ...BY_SKU),
    importOf('first.csv', FIRST, ...BY_SKU),
    importOf('prices.csv', 'sku,price\nA-1,5\n', ...BY_SKU),
    importOf('second.csv', SECOND, ...BY_SKU, '--dry-run'),
    importOf('second.csv', SECOND, ...BY_SKU),
    importOf('third.csv', THIRD, ...BY_SKU),
    EVENTS,
  ])
  assert.equal(countsOf(again), [0, 0, 3, 0, 0])
  assert.equal(countsOf(prices), [0, 1, 0, 0, 0])
  assert.equal(wouldOf(dry), [0, 3, 0, 0, 1])
  assert.equal(countsOf(second), [0, 3, 0, 0, 1])
  assert.equal(countsOf(third), [0, 1, 2, 0, 1])
  assert.equal(reportsOf(events), ['A-1 GIA 6200000001', 'A-3 HRD 9'])
})

test('that an import replaced are restored by its undo, and undone in turn', async ({ commands, importOf }) => {
  const [, first, second, third] = await commands.runInTurn([
    ADD,
    importOf('first.csv', FIRST, ...BY_SKU),
    importOf('second.csv', SECOND, ...BY_SKU),
    importOf('third.csv', THIRD, ...BY_SKU),
  ])
  const undo = (imported: CommandResult | undefined) => [
    'import',
    '--undo',
    String(resultOf(imported)['undo']),
    '--json',
  ]
  const [, , events, same, all, nothing] = await commands.runInTurn([
    undo(third),
    undo(second),
    EVENTS,
    importOf('first.csv', FIRST, ...BY_SKU, '--dry-run'),
    undo(first),
    EVENTS,
  ])
  assert.equal(reportsOf(events), FIRST_REPORTS)
  assert.equal(wouldOf(same), [0, 0, 3, 0, 0])
  assert.equal(countsOf(all).slice(0, 4), [0, 0, 0, 3])
  assert.equal(reportsOf(nothing), [])
})

test('of deleted stones are restored with them', async ({ commands, importOf }) => {
  const [, , deleted] = await commands.runInTurn([
    ADD,
    importOf('first.csv', FIRST),
    importOf('one.csv', 'sku\nA-3\n', ...BY_SKU, '--delete-missing', '--yes'),
  ])
  assert.equal(countsOf(deleted), [0, 0, 1, 2, 0])
  const [undone, same, events] = await commands.runInTurn([
    ['import', '--undo', String(resultOf(deleted)['undo']), '--json'],
    importOf('first.csv', FIRST, ...BY_SKU, '--dry-run'),
    EVENTS,
  ])
  assert.equal(countsOf(undone).slice(0, 4), [2, 0, 0, 0])
  assert.equal(wouldOf(same), [0, 0, 3, 0, 0])
  assert.equal(reportsOf(events), FIRST_REPORTS)
})

test('by sku: an empty cell removes a proportion, and the measurements', async ({ commands, importOf }) => {
  const empty = FIRST.replaceAll('6.41-6.44*3.98,61.9,57%,34.5', ',61.9,-,34.5')
  const [, , emptied, events] = await commands.runInTurn([
    ADD,
    importOf('first.csv', FIRST),
    importOf('empty.csv', empty, ...BY_SKU),
    EVENTS,
  ])
  assert.equal(countsOf(emptied), [0, 1, 2, 0, 0])
  assert.equal(eventsOf(events).at(-1)?.data, {
    set: {},
    removed: ['proportions.length', 'proportions.width', 'proportions.height', 'proportions.table'],
  })
})

test('do not make an imported file another one: it creates nothing again', async ({ commands, importOf }) => {
  const ignored = ['Lab', 'Certificate #', 'Measurements', 'Depth %', 'Table %', 'Crown Angle']
  const unread = ignored.flatMap((heading) => ['--map', `${heading}=`])
  const [, imported, again] = await commands.runInTurn([
    ADD,
    importOf('natural.csv', FIRST.replace('LG7', '7'), ...unread),
    importOf('natural.csv', FIRST.replace('LG7', '7')),
  ])
  assert.equal(countsOf(imported), [3, 0, 0, 0, 0])
  assert.equal(countsOf(again), [0, 0, 3, 0, 0])
})

test.run()
