import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { LABORATORIES, type Certification } from '../../src/domain/certification/certification.ts'
import { initialAccessRevisions, type LiveDiamond } from '../../src/domain/diamond/diamond.ts'
import { DICTIONARIES, withDefaults, type DiamondFields, type FieldName } from '../../src/domain/diamond/fields.ts'
import { culetSizes, girdleGrades } from '../../src/domain/dictionaries/girdle-and-culet.ts'
import { SHAPE_IDS } from '../../src/domain/dictionaries/shapes.ts'
import { StoneExport } from '../../src/trade-files/export/export.ts'
import type { ExportFormatName } from '../../src/trade-files/export/formats.ts'
import { readLines } from '../../src/trade-files/lines.ts'
import { openSource } from '../../src/trade-files/source.ts'
import { PATH_LINKS } from '../../src/representations/json.ts'
import * as fc from '../fast-check.ts'

type Context = { folder: string }
const test = suite<Context>('exported files')
test.before((context) => {
  context.folder = mkdtempSync(join(tmpdir(), 'export-'))
})
test.after(({ folder }) => rmSync(folder, { recursive: true }))

const optional = <Value>(values: readonly Value[]) => fc.option(fc.constantFrom(...values), { nil: null })
const idOf = (name: keyof typeof DICTIONARIES) => optional(DICTIONARIES[name].all.map(({ id }) => id))
/** A number with at most so many decimals. */
const decimal = (from: number, to: number, decimals: number) =>
  fc.integer({ min: from * 10 ** decimals, max: to * 10 ** decimals }).map((n) => n / 10 ** decimals)
const measure = (from: number, to: number, decimals = 1) => fc.option(decimal(from, to, decimals), { nil: null })

const girdle = fc.oneof(
  fc.constant(null),
  fc.constantFrom(...girdleGrades),
  fc.constantFrom(...girdleGrades.slice(1)).map((thick) => `${girdleGrades[0]}-${thick}`),
)

const skus = [
  'A-1',
  '000071',
  '1-2',
  '3E5',
  "'007",
  '=1+1',
  '#REF!',
  'a,b;c',
  '"quoted"',
  'ü £ 钻石',
  'MAR-1',
  '@x',
  "it's",
]
const sku = fc.oneof(
  fc.constantFrom(...skus),
  fc.integer({ min: 1, max: 1e6 }).map((n) => `S${n}`),
)

const anyIdOf = (name: keyof typeof DICTIONARIES) => fc.constantFrom(...DICTIONARIES[name].all.map(({ id }) => id))
const fancy = fc.record({
  colorHue: anyIdOf('colorHue'),
  fancyGrade: anyIdOf('fancyGrade'),
  colorModifier: idOf('colorModifier'),
})
const coloring: fc.Arbitrary<Partial<DiamondFields>> = fc.oneof(
  fc.record({ color: idOf('color') }),
  fancy.map((fields) => ({ ...fields, isColored: true })),
)

const size = fc.oneof(
  fc.constant({}),
  fc.record({
    'proportions.length': decimal(3, 20, 2),
    'proportions.width': decimal(3, 20, 2),
    'proportions.height': measure(2, 12, 2),
  }),
)

const stoneFields: fc.Arbitrary<DiamondFields> = fc
  .tuple(
    fc.record({
      sku,
      price: fc.option(decimal(1, 2_000_000, 2), { nil: null }),
      isLabGrown: fc.boolean(),
      cutShape: fc.oneof(fc.constantFrom(...SHAPE_IDS), fc.constantFrom('Trilliant', 'Kite; long', 'ナベット')),
      carat: decimal(0.01, 30, 3),
      clarity: idOf('clarity'),
      cutQuality: idOf('cutQuality'),
      polish: idOf('polish'),
      symmetry: idOf('symmetry'),
      fluorIntensity: idOf('fluorIntensity'),
      fluorColor: idOf('fluorColor'),
      culetSize: optional(culetSizes),
      girdle,
      'proportions.table': measure(50, 70),
      'proportions.depth': measure(56, 70),
      'proportions.crownHeight': measure(9, 20),
      'proportions.crownAngle': measure(28, 38),
      'proportions.pavilionDepth': measure(40, 46),
      'proportions.pavilionAngle': measure(39, 43),
      'proportions.girdle': measure(1, 9),
      'proportions.star': measure(40, 70),
      'proportions.lower': measure(65, 90),
      access: fc.constantFrom(0, 1, 2),
    }),
    coloring,
    size,
  )
  .map(([fields, color, measurements]) => withDefaults({ ...fields, ...color, ...measurements }))

const report = fc.option(
  fc.record({
    laboratory: fc.constantFrom(...LABORATORIES),
    number: fc.integer({ min: 1e6, max: 9_999_999_999 }).map(String),
  }),
  { nil: null },
)

const stoneOf = (fields: DiamondFields, id = 1, certifications: readonly Certification[] = []): LiveDiamond => ({
  status: 'live',
  id,
  owner: 1,
  date: 1_700_000_000,
  fields,
  certifications,
  serviceEventsSinceOwnerChange: 0,
  warningsSinceOwnerChange: 0,
  accessRevisions: initialAccessRevisions,
})

const certification = (id: number, laboratory: Certification['laboratory'], number: string | null): Certification => ({
  id,
  laboratory,
  number,
  file: null,
  reading: null,
})

async function textOf(format: ExportFormatName, stones: readonly LiveDiamond[]) {
  const stoneExport = new StoneExport(format, PATH_LINKS)
  let text = ''
  for await (const chunk of stoneExport.write(
    (async function* () {
      yield stones
    })(),
  ))
    text += chunk
  return { text, summary: stoneExport.summary }
}

/** What an import understands of a file. */
async function readBack(folder: string, text: string) {
  const file = join(folder, 'stones.csv')
  writeFileSync(file, text)
  const source = await openSource(file, {})
  const lines = []
  for await (const line of readLines(source.entries(), 'new stones')) lines.push(line)
  return lines
}

/** Fields that a format has no column for. */
const WITHOUT_COLUMN: Readonly<Record<ExportFormatName, readonly FieldName[]>> = {
  csv: ['isPublished'],
  jsonl: ['isPublished'],
  rapnet: ['isPublished', 'proportions.lower', 'access', 'dataAccess'],
  idex: ['isPublished', 'proportions.lower', 'proportions.star', 'proportions.girdle', 'access', 'dataAccess'],
}

const omit = (fields: DiamondFields, names: readonly FieldName[]) =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.some((one) => one === name)))

for (const format of Object.keys(WITHOUT_COLUMN) as ExportFormatName[])
  test(`in the format ${format} read back to the same stones and reports`, async ({ folder }) => {
    const stones = fc.array(fc.tuple(stoneFields, report), { minLength: 1, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(stones, async (generated) => {
        const exported = generated
          .map(([fields, one], index) =>
            stoneOf(fields, index + 1, one === null ? [] : [certification(index + 1, one.laboratory, one.number)]),
          )
          .filter(({ fields }) => format !== 'rapnet' || !fields.isLabGrown)
        fc.pre(exported.length > 0)
        const lines = await readBack(folder, (await textOf(format, exported)).text)
        assert.is(lines.length, exported.length)
        for (const [index, line] of lines.entries()) {
          const { fields, certifications } =
            exported[index] ?? stoneOf(withDefaults({ sku: '', cutShape: 2, carat: 1 }))
          assert.ok('change' in line, JSON.stringify(line))
          const names = WITHOUT_COLUMN[format]
          const read = withDefaults(line.change.set as DiamondFields)
          assert.equal(omit(read, names), omit(fields, names))
          const [stated] = certifications
          assert.equal(
            line.report,
            stated === undefined ? null : { laboratory: stated.laboratory, number: stated.number },
          )
        }
      }),
      { numRuns: 60 },
    )
  })

const round = (fields: Partial<DiamondFields>) => withDefaults({ sku: 'A', cutShape: 2, carat: 1, ...fields })

test('for a portal have stock numbers as they are, apart from formulas', async () => {
  const stones = skus.map((one, index) => stoneOf(round({ sku: one }), index + 1))
  const { text } = await textOf('rapnet', stones)
  const cells = text.split('\r\n').slice(1, -1)
  assert.equal(
    cells.map((line) => line.slice(0, line.indexOf(',Round,'))),
    [
      'A-1',
      '000071',
      '1-2',
      '3E5',
      "''007",
      "'=1+1",
      "'#REF!",
      '"a,b;c"',
      '"""quoted"""',
      'ü £ 钻石',
      'MAR-1',
      "'@x",
      "it's",
    ],
  )
})

test('have the latest report with a number, or else the laboratory alone', async () => {
  const two = [certification(1, 'GIA', '11'), certification(2, 'IGI', '22'), certification(3, 'HRD', null)]
  const { text } = await textOf('csv', [stoneOf(round({}), 1, two), stoneOf(round({}), 2, two.slice(2))])
  assert.match(text, /\r\n1,.*,IGI,22,2023/)
  assert.match(text, /\r\n2,.*,HRD,,2023/)
})

test('leave out what a portal does not list, and say what it requires', async () => {
  const complete = { price: 100, color: 15, clarity: 1 }
  const stones = [
    [round({ ...complete, sku: 'COMPLETE' }), '1'],
    [round({ ...complete, sku: 'FANCY', color: null, clarity: null, colorHue: 11, fancyGrade: 12 }), '2'],
    [round({ ...complete, sku: 'HUE', color: null, colorHue: 11 }), '3'],
    [round({ ...complete, sku: 'FREE', price: 0 }), '4'],
    [round({ ...complete, sku: 'GROWN', isLabGrown: true, price: null }), null],
    [round({ sku: 'BARE' }), null],
  ] as const
  const diamonds = stones.map(([fields, number], index) =>
    stoneOf(fields, index + 1, number === null ? [] : [certification(index + 1, 'GIA', number)]),
  )
  const remarksOf = async (format: ExportFormatName) => {
    const { stones: count, remarks } = (await textOf(format, diamonds)).summary
    return [count, remarks.map((remark) => `${remark.text.slice(0, 16)}: ${remark.skus.join(' ')}`)]
  }
  assert.equal(await remarksOf('rapnet'), [
    5,
    [
      'laboratory-grown: GROWN',
      'without a price: FREE BARE',
      'without a colour: HUE BARE',
      'without a clarit: BARE',
      'without a report: BARE',
    ],
  ])
  assert.equal(await remarksOf('idex'), [
    6,
    [
      'laboratory-grown: GROWN',
      'without a price: FREE GROWN BARE',
      'without a colour: HUE BARE',
      'without a clarit: BARE',
    ],
  ])
  assert.equal(await remarksOf('csv'), [6, []])
})

test.run()
