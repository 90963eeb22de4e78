import * as fc from '../../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { REPORT_FACTS, type ReportReading } from '../../../src/domain/certification/certification.ts'
import { groupIntoCells } from '../../../src/domain/certification/page-cells.ts'
import { isEmptyReading, parseReport } from '../../../src/domain/certification/report-parser.ts'
import { layouts, nothingRead, type Lines } from '../../fixtures/reports/layouts.ts'
import { laidOut, PAGE_LAYOUTS, type PageLayout } from '../../fixtures/reports/pages.ts'
import { reports } from '../../fixtures/reports/reports.ts'

const test = suite('the report parser')

/** The reading of a page on which each line is one cell. */
const read = (text: string): ReportReading =>
  parseReport([
    groupIntoCells(
      text
        .split('\n')
        .map((line, index) => ({ text: line, x: 40, y: 40 + index * 20, width: line.length * 5, size: 8 })),
    ),
  ])

type Report = { readonly name: string; readonly lines: Lines; readonly reading: ReportReading }

const all: readonly Report[] = [
  ...reports.map(({ file, lines, reading }) => ({ name: file, lines, reading })),
  ...layouts.map(({ name, lines, expected }) => ({ name, lines, reading: { ...nothingRead, ...expected } })),
]

for (const { name, lines, reading } of all) {
  for (const [layoutName, layout] of Object.entries(PAGE_LAYOUTS)) {
    test(`reads ${name} laid out as ${layoutName}`, () => {
      assert.equal(parseReport([groupIntoCells(laidOut(lines, layout))]), reading)
    })
  }
  test(`reads ${name} with label and value in one cell`, () => {
    assert.equal(read(lines.map((line) => line.join(' ')).join('\n')), reading)
  })
}

/** Other lines that reports contain. */
const OTHER_LINES: Lines = [
  ['Polish', 'Excellent'],
  ['Symmetry', 'Very Good'],
  ['Fluorescence', 'None'],
  ['Clarity Grade', 'VS2'],
  ['Color Grade', 'G'],
  ['Culet', 'None'],
  ['Cut Grade', 'Excellent'],
  ['Date of Issue', 'January 14, 2019'],
  ['Crown Height', '15.0%'],
  ['Pavilion Depth', '43.0%'],
  ['Key to Symbols', 'Crystal, Feather, Pinpoint'],
  ['Comments', 'Minor details of polish are not shown.'],
]

/** Layouts in which a value is nearer to its label than to any other text. */
const anyLayout: fc.Arbitrary<PageLayout> = fc
  .record({
    columns: fc.integer({ min: 1, max: 4 }),
    order: fc.constantFrom('rows' as const, 'columns' as const),
    labels: fc.constantFrom('left' as const, 'above' as const),
    align: fc.constantFrom(0, 0.5, 1),
    labelSize: fc.integer({ min: 5, max: 10 }),
    valueSize: fc.integer({ min: 6, max: 12 }),
    toValue: fc.double({ min: 0, max: 1, noNaN: true }),
    gutter: fc.double({ min: 1.6, max: 6, noNaN: true }),
    leading: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  .map((layout) => {
    const size = Math.max(layout.labelSize, layout.valueSize)
    const gutter = layout.gutter * size
    if (layout.labels === 'left')
      return { ...layout, gutter, toValue: (1.6 + 6 * layout.toValue) * size, leading: 2 + 10 * layout.leading }
    const leading = 6 + 14 * layout.leading
    return { ...layout, gutter, leading, toValue: 0.5 + layout.toValue * Math.min(5, leading / 2 - 0.5) }
  })

test('returns correct facts or none, in any layout and with any other lines in between', () => {
  const between = fc.array(fc.tuple(fc.constantFrom(...OTHER_LINES), fc.nat(20)), { maxLength: 8 })
  fc.assert(
    fc.property(fc.constantFrom(...all), anyLayout, between, ({ lines, reading }, layout, others) => {
      const isNew = ([label]: Lines[number]) => !lines.some(([own]) => own.startsWith(label))
      const mixed = others.reduce<Lines>(
        (soFar, [other, at]) => (isNew(other) ? soFar.toSpliced(1 + (at % soFar.length), 0, other) : soFar),
        lines,
      )
      const parsed = parseReport([groupIntoCells(laidOut(mixed, layout))])
      for (const fact of REPORT_FACTS) if (parsed[fact] !== null) assert.equal(parsed[fact], reading[fact], fact)
    }),
    { numRuns: 500 },
  )
})

test('assigns a value to neither of two equally near labels, and lists both as unclear', () => {
  const cells = [
    { text: 'Depth', left: 100, right: 130, y: 40, size: 8 },
    { text: 'Table', left: 56, right: 86, y: 58, size: 8 },
    { text: '57.0%', left: 100, right: 130, y: 58, size: 8 },
  ]
  const { depth, table, unclear } = parseReport([cells])
  assert.equal([depth, table, unclear], [null, null, ['table', 'depth']])
})

test('returns null for a fact that the report states twice with different values', () => {
  const { table, unclear } = read('Table 57%\nDepth 61.8%\nTable 58%')
  assert.equal([table, unclear], [null, ['table']])
  assert.equal(read('Table 57%\nDepth 61.8%\nTable Size 57%').unclear, [])
})

test('does not confuse other girdle, half or star values with the ones it reads', () => {
  const { girdle, lower, star } = read('Upper Girdle 49%\nGirdle Facet 76%\nStar Ruby 55\nLower Half 12%')
  assert.equal([girdle, lower, star], [null, null, null])
  assert.is(read('Girdle Medium\nCulet None\nPavilion Depth 15.0%').girdle, null)
  assert.is(read('Girdle: thin 0.9 - 2.4%').girdle, 1.65)
})

test('accepts the spellings of several years and languages', () => {
  for (const label of [
    'Certificate N°',
    'Certificate Nº',
    'Certificate No.',
    'Certificate #',
    'Report Number',
    'Report no:',
  ])
    assert.is(read(`${label} 190001877342`).number, '190001877342', label)
  assert.is(read('GIA REPORT NUMBER: 5181234567').number, '5181234567')
  assert.is(read('Report No. 12345678').number, '12345678')
  assert.is(read('Crown Angle: 34,5°').crownAngle, 34.5)
  assert.is(read('Pavilion – 41.2° – 43%').pavilionAngle, 41.2)
  assert.is(read('Depth Percentage 62.3 %').depth, 62.3)
  assert.equal(read('Measurements: 8.01 x 5.45 x 3.41mm').measurements, {
    length: 8.01,
    width: 5.45,
    depth: 3.41,
  })
})

test('does not read a height as an angle, a partial depth as the total, or an impossible value', () => {
  assert.is(read('Crown Height 15.0%\nGirdle 3.5%').crownAngle, null)
  assert.is(read('Pavilion Depth 43.0%').depth, null)
  assert.is(read('Pavilion depth 43.0%\nDepth 61.8%').depth, 61.8)
  assert.is(read('Table 5.74 mm').table, null)
  assert.is(read('Table 99%').table, null)
  assert.is(read('Report dated January 14, 2019').number, null)
})

test('reads the laboratory, the shape and the origin if the report states them', () => {
  const factsIn = (text: string) => {
    const { laboratory, shape, isLabGrown } = read(text)
    return [laboratory, shape, isLabGrown]
  }
  assert.equal(factsIn('International Gemological Institute'), ['IGI', null, null])
  assert.equal(factsIn('An AGS Ideal Report by GIA'), [null, null, null])
  assert.equal(factsIn('Shape and Cutting Style: Cut-Cornered Rectangular Modified Brilliant'), [null, 83, null])
  assert.equal(factsIn('Shape and Cutting Style\nSquare Emerald Cut'), [null, 92, null])
  assert.equal(factsIn('SHAPE AND CUT PEAR BRILLIANT'), [null, 22, null])
  assert.equal(factsIn('Shape Hexagonal Step Cut\nround girdle'), [null, null, null])
  for (const labGrown of [
    'Laboratory-Grown Diamond Report',
    'Growth process: Chemical Vapor Deposition (CVD)',
    'HPHT grown',
    'As grown - no indication of post-growth treatment',
    'LAB CREATED DIAMOND',
    'Report Number LG712345678',
  ])
    assert.equal(factsIn(labGrown), [null, null, true], labGrown)
  assert.equal(factsIn('Treatment: HPHT'), [null, null, null])
  assert.equal(factsIn('Natural Diamond, not laboratory-grown'), [null, null, false])
  assert.equal(factsIn('Natural Diamond\nWe also grade laboratory-grown diamonds'), [null, null, null])
  assert.equal(factsIn('Origin: Natural'), [null, null, false])
})

test('returns an empty reading for text without facts', () => {
  assert.ok(isEmptyReading(read('')))
  assert.ok(isEmptyReading(read('An invoice of 12 pages, 99.50 EUR')))
})

test('finishes quickly for any text, however repetitive', () => {
  const words = fc.constantFrom(
    'report',
    'number',
    'crown',
    'angle',
    'depth',
    'table',
    'measurements',
    'shape',
    'cut-cornered',
    'laboratory',
    'girdle',
    'thin',
    'lower half',
    'star',
    '%',
    '°',
    ' ',
    '.',
    '-',
    '6.42',
    'x',
  )
  fc.assert(
    fc.property(fc.array(words, { maxLength: 200 }), fc.integer({ min: 1, max: 400 }), (piece, times) => {
      // A parser with backtracking would need hours for these.
      read(piece.join('').repeat(times))
    }),
    { numRuns: 60 },
  )
})

test.run()
