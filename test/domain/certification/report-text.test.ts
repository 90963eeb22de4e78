import * as fc from '../../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { isEmpty, readReport } from '../../../src/domain/certification/report-text.ts'
import { layouts, nothingRead } from '../../fixtures/reports/layouts.ts'
import { reports } from '../../fixtures/reports/reports.ts'

const test = suite("a report's text")

for (const { file, lines, reading } of reports) {
  test(`of ${file} is understood with labels before and above their values`, () => {
    assert.equal(readReport(lines.map((line) => line.join(' ')).join('\n')), reading)
    assert.equal(readReport(lines.flat().join('\n')), reading)
  })
}

for (const { name, lines, says } of layouts) {
  test(`${name}, is understood with labels before and above their values`, () => {
    const expected = { ...nothingRead, ...says }
    assert.equal(readReport(lines.map((line) => line.join(' ')).join('\n')), expected)
    assert.equal(readReport(lines.flat().join('\n')), expected)
  })
}

test('takes no other girdle, half or star for the one that counts', () => {
  const { girdle, lower, star } = readReport('Upper Girdle 49%\nGirdle Facet 76%\nStar Ruby 55\nLower Half 12%')
  assert.equal([girdle, lower, star], [null, null, null])
  assert.is(readReport('Girdle Medium\nCulet None\nPavilion Depth 15.0%').girdle, null)
  assert.is(readReport('Girdle: thin 0.9 - 2.4%').girdle, 1.65)
})

test('is read in the spellings of several years and languages', () => {
  assert.is(readReport('GIA REPORT NUMBER: 5181234567').number, '5181234567')
  assert.is(readReport('Report No. 12345678').number, '12345678')
  assert.is(readReport('Crown Angle: 34,5°').crownAngle, 34.5)
  assert.is(readReport('Pavilion – 41.2° – 43%').pavilionAngle, 41.2)
  assert.is(readReport('Depth Percentage 62.3 %').depth, 62.3)
  assert.equal(readReport('Measurements: 8.01 x 5.45 x 3.41mm').measurements, {
    length: 8.01,
    width: 5.45,
    depth: 3.41,
  })
})

test('takes no height for an angle, no part for the whole, and nothing a stone can not have', () => {
  assert.is(readReport('Crown Height 15.0%\nGirdle 3.5%').crownAngle, null)
  assert.is(readReport('Pavilion Depth 43.0%').depth, null)
  assert.is(readReport('Pavilion depth 43.0%\nDepth 61.8%').depth, 61.8)
  assert.is(readReport('Table 5.74 mm').table, null)
  assert.is(readReport('Table 99%').table, null)
  assert.is(readReport('Report dated January 14, 2019').number, null)
})

test('names the laboratory where it names one, the shape, and how the stone came about', () => {
  const said = (text: string) => {
    const { laboratory, shape, isLabGrown } = readReport(text)
    return [laboratory, shape, isLabGrown]
  }
  assert.equal(said('International Gemological Institute'), ['IGI', null, null])
  assert.equal(said('An AGS Ideal Report by GIA'), [null, null, null])
  assert.equal(said('Shape and Cutting Style: Cut-Cornered Rectangular Modified Brilliant'), [null, 83, null])
  assert.equal(said('Shape and Cutting Style\nSquare Emerald Cut'), [null, 92, null])
  assert.equal(said('SHAPE AND CUT PEAR BRILLIANT'), [null, 22, null])
  assert.equal(said('Shape Hexagonal Step Cut\nround girdle'), [null, null, null])
  assert.equal(said('Laboratory-Grown Diamond Report'), [null, null, true])
  assert.equal(said('Natural Diamond, not laboratory-grown'), [null, null, null])
  assert.equal(said('Origin: Natural'), [null, null, false])
})

test('says nothing where there is nothing', () => {
  assert.ok(isEmpty(readReport('')))
  assert.ok(isEmpty(readReport('An invoice of 12 pages, 99.50 EUR')))
})

test('is read to its end, whatever stands in it and however often', () => {
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
      // One that looks back again and again needs hours for these.
      readReport(piece.join('').repeat(times))
    }),
    { numRuns: 60 },
  )
})

test.run()
