import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { LABORATORIES } from '../../src/domain/certification/certification.ts'
import { DICTIONARIES } from '../../src/domain/diamond/fields.ts'
import { culetSizes, girdleGrades } from '../../src/domain/dictionaries/girdle-and-culet.ts'
import { cutShapeTree } from '../../src/domain/dictionaries/shapes.ts'
import { CommandLine, type CommandResult } from './command-line.ts'

type Context = { commands: CommandLine; at: (name: string) => string }
const test = suite<Context>('export')
test.before.each(async (context) => {
  context.commands = await CommandLine.onEngines()
  context.at = (name) => join(context.commands.folder, name)
})
test.after.each(({ commands }) => commands.remove())

const user = (name: string) => `${name}@example.com`
const add = (name: string) => ['user', 'add', user(name), '--password', 'right horse', '--json']
const userOptions = (name: string) => ['--user', user(name), '--json']

/** Texts that a spreadsheet program may convert. */
const SKUS = [
  '007',
  '1e5',
  '0x1F',
  'true',
  '=1+1',
  "'=1+1",
  '＝1+1',
  '"quoted"',
  'a,b;c',
  "it's",
  '-',
  'ü £ 钻石',
  '1,200',
  '{}',
  '#REF!',
  '####',
  '000071',
  '3E5',
  '1-2',
  'MAR-1',
  '5 May',
  '1234567890123456',
  "'007",
  'NULL',
]
const OWN_SHAPES = ['1e5', '1,5', 'Trilliant', '"Rose" cut', 'Kite; long', '0,71', '-1', 'Bullet 2.5', 'ナベット']
const PRICES = [0, 0.1, 1e21, 1e-7, 1234567.89, 4_200, null]
const CARATS = [0.01, 1, 2, 10_000, 0.123456789012345]

const shapes = cutShapeTree().flatMap(({ id, children }) => [id, ...children.map((child) => child.id)])
const at = <Value>(values: readonly Value[], index: number) => values[index % values.length] ?? null

/** Stones with every value of every dictionary, as v4 accepts them. */
const STONES = Array.from({ length: 120 }, (_, n) => ({
  sku: n < SKUS.length ? at(SKUS, n) : `S-${n}`,
  price: at(PRICES, n),
  isColored: n % 3 === 0,
  isLabGrown: n % 2 === 0,
  cutShape: n % 4 === 0 ? at(OWN_SHAPES, n / 4) : at(shapes, n),
  carat: at(CARATS, n),
  ...Object.fromEntries(
    Object.entries(DICTIONARIES).map(([name, { all }]) => [name, n % 5 === 0 ? null : (at(all, n)?.id ?? null)]),
  ),
  culetSize: at([...culetSizes, null], n),
  girdle: n % 7 === 0 ? `${at(girdleGrades, n)}-${at(girdleGrades, n + 3)}` : at([...girdleGrades, null], n),
  ...(n % 3 > 0 && {
    proportions: { table: 50 + (n % 20), crownAngle: n % 2 === 0 ? 34.5 : null, length: 6.4 + n / 1000 },
  }),
  access: n % 3,
  dataAccess: (n + 1) % 3,
  // A number of IGI that says laboratory-grown, on natural stones too: files of an export are meant as written.
  certifications: n % 4 === 1 ? [] : [{ laboratory: at(LABORATORIES, n), number: `LG${70_000_000 + n}` }],
}))

const lines = (stones: readonly object[]) => stones.map((stone) => `${JSON.stringify(stone)}\n`).join('')
const resultOf = ({ out, err }: CommandResult | undefined = { code: 1, out: '', err: 'nothing ended' }) => {
  assert.ok(out !== '', err)
  return JSON.parse(out.trim().split('\n').at(-1) ?? '') as Record<string, unknown>
}

test('in any format changes nothing when it is imported again', async ({ commands, at: path }) => {
  writeFileSync(path('all.jsonl'), lines(STONES))
  const [, created, ...written] = await commands.runInTurn([
    add('a'),
    ['import', path('all.jsonl'), ...userOptions('a')],
    ['export', path('a.csv'), ...userOptions('a')],
    ['export', path('a.csv.gz'), ...userOptions('a')],
    ['export', path('a.jsonl'), ...userOptions('a')],
    ['export', '--user', user('a')],
    ['export', '--user', user('a'), '--json'],
    ['events', '--json'],
  ])
  assert.is(resultOf(created)['created'], STONES.length, created?.err)
  assert.equal(resultOf(written[0]), {
    stones: STONES.length,
    remarks: [],
    lacks: null,
    file: path('a.csv'),
    format: 'csv',
  })
  const csv = readFileSync(path('a.csv'), 'utf8')
  assert.is(gunzipSync(readFileSync(path('a.csv.gz'))).toString(), csv)
  assert.is(written[3]?.out, csv)
  assert.not.match(csv, /(?:^|,)"?[=+\-@＝＋－＠]/m, 'a cell is a formula')
  assert.match(csv, /,'000071,.*,'3E5,.*,'1-2,.*,'MAR-1,.*,'5 May,.*,'1234567890123456,.*,''007,.*,NULL,/s)
  assert.is(written[4]?.out, readFileSync(path('a.jsonl'), 'utf8'))
  assert.not.ok(existsSync(path('a.csv.partial')))

  const again = await commands.runInTurn([
    ...['a.csv', 'a.csv.gz', 'a.jsonl'].map((name) => [
      'import',
      path(name),
      ...userOptions('a'),
      '--update-by',
      'sku',
      '--delete-missing',
    ]),
    ['events', '--json'],
  ])
  for (const ended of again.slice(0, 3)) {
    const { created: made, changed, unchanged, deleted, refused } = resultOf(ended)
    assert.equal(
      { made, changed, unchanged, deleted, refused },
      { made: 0, changed: 0, unchanged: STONES.length, deleted: 0, refused: 0 },
      ended.err,
    )
  }
  assert.is(again[3]?.out, written[5]?.out)
})

test('that another account imports has the same stones, apart from ids and dates', async ({ commands, at: path }) => {
  writeFileSync(path('all.jsonl'), lines(STONES))
  const ended = await commands.runInTurn([
    add('a'),
    add('b'),
    ['import', path('all.jsonl'), ...userOptions('a')],
    ['export', path('a.csv'), ...userOptions('a')],
    ['import', path('a.csv'), ...userOptions('b')],
    ['export', '--user', user('a'), '--json'],
    ['export', '--user', user('b'), '--json'],
  ])
  const [ofA, ofB] = ended.slice(-2).map(({ out }) =>
    out
      .trim()
      .split('\n')
      .map((line) => ({ ...(JSON.parse(line) as object), id: 0, date: '' })),
  )
  assert.is(ofB?.length, STONES.length)
  assert.equal(ofB, ofA)
})

test('contains no deleted stones and none of another account', async ({ commands, at: path }) => {
  writeFileSync(path('two.csv'), 'sku,cutShape,carat\nA-1,Round,1\nA-2,Pear,2\n')
  writeFileSync(path('one.csv'), 'sku,cutShape,carat\nA-2,Pear,2\n')
  const ended = await commands.runInTurn([
    add('a'),
    add('b'),
    ['import', path('two.csv'), ...userOptions('a')],
    ['import', path('one.csv'), ...userOptions('a'), '--update-by', 'sku', '--delete-missing', '--yes'],
    ['import', path('two.csv'), ...userOptions('b')],
    ['export', '--user', user('a')],
  ])
  const [header, ...rows] = (ended.at(-1)?.out ?? '').trim().split('\r\n')
  assert.is(
    header,
    'id,sku,price,isColored,isLabGrown,cutShape,carat,clarity,color,cutQuality,polish,symmetry,fluorIntensity,fluorColor,fancyGrade,colorHue,colorModifier,culetSize,girdle,proportions.length,proportions.width,proportions.height,proportions.table,proportions.depth,proportions.girdle,proportions.crownHeight,proportions.pavilionDepth,proportions.star,proportions.lower,proportions.crownAngle,proportions.pavilionAngle,access,dataAccess,laboratory,reportNumber,date',
  )
  assert.is(rows.length, 1)
  assert.match(rows[0] ?? '', /^2,A-2,,false,false,Pear,2,(?:,)*0,0,,,20/)
})

test('for a portal says what it requires and stones lack', async ({ commands, at: path }) => {
  writeFileSync(path('two.csv'), 'sku,cutShape,carat,price,color,clarity\nA-1,Round,1,5000,G,VS1\nA-2,Pear,2,,,\n')
  const [, , toFile, toStdout] = await commands.runInTurn([
    add('a'),
    ['import', path('two.csv'), ...userOptions('a')],
    ['export', path('rapnet.csv'), ...userOptions('a').slice(0, 2), '--format', 'rapnet'],
    ['export', ...userOptions('a').slice(0, 2), '--format', 'rapnet'],
  ])
  const remarks = [
    '1 stone is without a price (A-2)',
    '1 stone is without a colour, or a fancy colour with its intensity (A-2)',
    '1 stone is without a clarity (A-2)',
    '2 stones are without a report number: RapNet lists them as not graded (A-1, A-2)',
    'The file lacks the location (Country, State, City) and the availability, which are not stored here; prices must be in US dollars',
    '',
  ]
  assert.is(toFile?.out, `Exported 2 stones to ${path('rapnet.csv')}\n`)
  assert.is(toFile?.err, remarks.join('\n'))
  assert.is(toStdout?.out, readFileSync(path('rapnet.csv'), 'utf8'))
  assert.is(toStdout?.err, `Exported 2 stones of ${user('a')}\n${remarks.join('\n')}`)
  assert.match(
    String(toStdout?.out),
    /\r\nA-1,Round,1,G,.*,5000,.*,5000\.00,http:\/\/\S+\/diamond\/1\?signature=\S+\r\n/,
  )
})

test.run()
