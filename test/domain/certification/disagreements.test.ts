import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { ReportReading } from '../../../src/domain/certification/certification.ts'
import { disagreementTexts } from '../../../src/domain/certification/warnings.ts'
import { withDefaults } from '../../../src/domain/diamond/fields.ts'
import { nothingRead } from '../../fixtures/reports/layouts.ts'
import { proportionFields } from '../../fixtures/proportions.ts'

const test = suite("a report and the owner's proportions")

const disagreements = (read: Partial<ReportReading>, stated: Readonly<Record<string, number>>) => {
  const fields = withDefaults({ sku: 'A-1', cutShape: 2, carat: 1.01, ...proportionFields(stated) })
  return disagreementTexts({ ...nothingRead, ...read }, fields)
}

for (const [name, read, rounded, different] of [
  ['table', { table: 57 }, 58, 58.1],
  ['depth', { depth: 61.9 }, 62.4, 62.5],
  ['girdle', { girdle: 3.5 }, 4.5, 4.6],
  ['star', { star: 50 }, 55, 55.1],
  ['lower', { lower: 80 }, 75, 74.9],
  ['crownAngle', { crownAngle: 34.5 }, 34, 33.9],
  ['pavilionAngle', { pavilionAngle: 40.8 }, 41, 41.1],
  ['crownHeight', { table: 57, crownAngle: 34.5 }, 15.5, 16],
  ['pavilionDepth', { pavilionAngle: 40.8 }, 43, 45],
  ['height', { measurements: { length: 6.44, width: 6.41, depth: 3.98 } }, 3.94, 3.9],
] as const)
  test(`disagree about ${name} only by more than rounding`, () => {
    assert.equal(disagreements(read, { [name]: rounded }), [])
    assert.is(disagreements(read, { [name]: different }).length, 1)
  })

test('agree if one of them does not have the value', () => {
  assert.equal(disagreements({ table: 57 }, { depth: 50 }), [])
  assert.equal(disagreements({}, { table: 50, length: 5, width: 5 }), [])
})

test('may name the sides in either order', () => {
  const measurements = { length: 8.01, width: 5.92, depth: 3.61 }
  assert.equal(disagreements({ measurements }, { length: 5.92, width: 8.01 }), [])
  assert.equal(disagreements({ measurements }, { length: 5.92, width: 8.11 }), [
    'The report has a length of 8.01 mm, but the vendor states 8.11 mm',
  ])
})

test.run()
