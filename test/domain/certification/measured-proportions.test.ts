import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Certification, ReportReading } from '../../../src/domain/certification/certification.ts'
import { measuredProportions } from '../../../src/domain/certification/measured-proportions.ts'
import { withDefaults } from '../../../src/domain/diamond/fields.ts'
import { nothingRead } from '../../fixtures/reports/layouts.ts'

const test = suite('measured proportions')

const fields = withDefaults({ sku: 'A-1', cutShape: 11, carat: 1.02 })

function measured(...readings: Partial<ReportReading>[]) {
  const certifications = readings.map((one, index): Certification => ({
    id: index + 1,
    laboratory: 'GIA',
    number: null,
    file: null,
    reading: { ...nothingRead, ...one },
  }))
  return measuredProportions({ certifications, fields })
}

const MAIN = { table: 57, depth: 61.8, crownAngle: 34.5, pavilionAngle: 40.8 }

test('can be incomplete: a fancy shape has table, depth and measurements, but no angles', () => {
  const size = { length: 8.01, width: 5.92, depth: 3.61 }
  assert.equal(measured({ table: 60, depth: 61, measurements: size }), { table: 60, depth: 61, size })
  assert.equal(measured({ star: 50, lower: 75, girdle: 3.5 }), { girdle: 3.5, star: 50, lower: 75 })
})

test('are undefined if no report has measurements or no report matches the diamond', () => {
  assert.is(measured({}), undefined)
  assert.is(measured(), undefined)
  assert.is(measured({ ...MAIN, carat: 2.5 }), undefined)
})

test('come from the most complete report, the newest if several are equal, and are never mixed', () => {
  assert.equal(measured(MAIN, { table: 60, lower: 75 }), MAIN)
  assert.equal(measured({ table: 60 }, MAIN), MAIN)
  assert.equal(measured(MAIN, { ...MAIN, table: 58 }), { ...MAIN, table: 58 })
  assert.equal(measured({ ...MAIN, girdle: 3.5, star: 50 }, { ...MAIN, table: 58 }), { ...MAIN, table: 58 })
})

test('exclude measurements that are impossible for the weight', () => {
  assert.is(measured({ measurements: { length: 0.32, width: 0.23, depth: 0.14 } }), undefined)
  assert.equal(measured({ table: 60, measurements: { length: 80.1, width: 59.2, depth: 36.1 } }), { table: 60 })
})

test.run()
