import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { ReportReading } from '../../../src/domain/certification/certification.ts'
import { withDefaults, type NewDiamond } from '../../../src/domain/diamond/fields.ts'
import { scoreBasisOf } from '../../../src/domain/diamond/score-basis.ts'
import { cutQuality, symmetry } from '../../../src/domain/dictionaries/cut-grades.ts'
import { nothingRead } from '../../fixtures/reports/layouts.ts'
import { scoresOfVersion } from '../../reactions/scoring/older-scores.ts'

const test = suite('what scores rest on')

const of = (fields: Partial<NewDiamond>, read?: Partial<ReportReading>, ver?: string) => {
  const certification = { id: 1, laboratory: 'GIA' as const, number: null, file: null }
  const reading = { ...nothingRead, ...read }
  const diamond = {
    fields: withDefaults({ sku: 'A-1', cutShape: 2, carat: 1, ...fields }),
    certifications: read === undefined ? [] : [{ ...certification, reading }],
  }
  const brilliance = { val: 1, rg: 1, d: 0.02, faceup: 1, avg: 1, ver: String(ver) }
  return scoreBasisOf(diamond, ver === undefined ? null : { ...scoresOfVersion(ver), brilliance })
}

const graded = { cutQuality: cutQuality.find('Good') ?? 0 }
const MAIN = { table: 57, depth: 61.8, crownAngle: 34.5, pavilionAngle: 40.8 }
const size = { length: 6.5, width: 6.4, depth: 3.9 }

test('is the shape without a grade, else the grade, else what was measured', () => {
  assert.equal(of({}), { light: 'shape', spread: 'shape', symmetry: 'shape', measured: [] })
  assert.equal(of(graded), { light: 'grade', spread: 'grade', symmetry: 'grade', measured: [] })
  const { light, spread, measured } = of(graded, { table: 57, girdle: 3 })
  assert.equal([light, spread, measured], ['measurements', 'measurements', ['tablePct', 'girdlePct']])
})

test('is for symmetry never more than its grade, whatever was measured', () => {
  assert.is(of({ symmetry: symmetry.find('Good') ?? 0 }, MAIN).symmetry, 'word')
  assert.is(of(graded, MAIN).symmetry, 'grade')
})

test('is not what can not be true of one stone, but for its size', () => {
  const { light, spread } = of(graded, { ...MAIN, depth: 45, measurements: size })
  assert.equal([light, spread], ['grade', 'measurements'])
})

test('is of scores of an older model what that one counted', () => {
  const told = (read: Partial<ReportReading>) => {
    const { light, spread, measured } = of(graded, read, '1.0.0+3af0ed2d')
    return [light, spread, measured.length]
  }
  assert.equal(told({ table: 57, measurements: size }), ['grade', 'grade', 0])
  assert.equal(told({ ...MAIN, girdle: 3, measurements: size }), ['measurements', 'measurements', 4])
})

test.run()
